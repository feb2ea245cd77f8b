import { beforeEach, describe, expect, it } from 'vitest'
import type { AppError } from '#core/error.ts'
import { walkRoots } from '#core/root.ts'
import { openRuleSet } from '#core/rule-set.ts'
import { checkBoundaries, type DraftProblem, previewBoundaries } from '#server/features/boundary.ts'
import { rootChain, rootsAfter, rotateKey } from '#server/features/root.ts'
import { publishRuleSet, rollBackRuleSet } from '#server/features/rule-set.ts'
import { currentRuleSet, ruleSetHistory, ruleSetVersion } from '#server/features/rule-set-history.ts'
import { crypto } from '#server/keys/crypto.ts'
import { someDigest } from '../../support/connector.ts'
import { useDatabase } from '../../support/db.ts'
import {
  actorOf,
  contextOf,
  cost,
  costRule,
  makeMachine,
  makeMember,
  makeOrganisation,
  publish,
  type TestOrganisation,
} from '../../support/makers.ts'

const db = useDatabase()
let org: TestOrganisation
beforeEach(async () => {
  org = await makeOrganisation(db.prisma)
})

const owner = () => contextOf(db.prisma, actorOf(org, org.ownerId, 'owner'))
const put = (text: string, etag = '"0"', note = 'why') => publishRuleSet(owner(), { text, note, etag })
const thrown = (promise: Promise<unknown>): Promise<AppError> =>
  promise.then(
    () => Promise.reject(new Error('was not refused')),
    error => error as AppError,
  )
const errorsOf = async (text: string) => (await thrown(put(text))).details!.errors as DraftProblem[]
const versions = () => db.prisma.ruleSetVersion.findMany({ where: { orgId: org.id }, orderBy: { version: 'asc' } })
const ledger = () =>
  db.prisma.evidenceEntry.findMany({ where: { orgId: org.id, kind: 'ruleset.published' }, orderBy: { seq: 'asc' } })

describe('publishing', () => {
  it('makes a signed, canonical version that a connector verifies, with evidence that names digests and counts', async () => {
    const { version, digest, etag } = await put(costRule('lead'))
    const [row] = await versions()
    const root = walkRoots(await rootsAfter(db.prisma, org.id, 0), org.id, crypto).at(-1)!.root
    const { set } = openRuleSet(row!.jws, root, crypto)
    expect(set).toMatchObject({
      version: 1,
      org: org.id,
      minReader: 1,
      maxAge: 86400,
      whenBroken: 'pass',
      selfAnswer: 'account',
      boundaries: [{ name: 'session-spend', stage: 'enforce' }],
    })
    expect({ version, digest, etag }).toEqual({ version: 1, digest: row!.digest, etag: `"1.${digest}"` })
    const [entry] = await ledger()
    expect(JSON.parse(Buffer.from(entry!.bytes).toString()).data).toEqual({
      version: 1,
      digest,
      rules: 1,
      enforced: 1,
      budgets: 0,
      rates: 0,
      attribution: 0,
      tagValues: 0,
    })
    const second = await put(costRule('lead', '    note: again\n'), etag)
    const { set: next } = openRuleSet((await versions())[1]!.jws, root, crypto)
    expect(next.prevDigest).toBe(digest)
    expect(JSON.parse(Buffer.from((await ledger())[1]!.bytes).toString()).data).toMatchObject({
      previousDigest: digest,
      previousVersion: 1,
      digest: second.digest,
    })
  })

  it('of two at once against the same version one wins, and the other is shown what it would have overwritten', async () => {
    const results = await Promise.allSettled([
      put(costRule('lead', '    note: one\n')),
      put(costRule('lead', '    note: two\n')),
    ])
    expect(results.map(r => r.status).sort()).toEqual(['fulfilled', 'rejected'])
    const lost = (results.find(r => r.status === 'rejected') as PromiseRejectedResult).reason as AppError
    const [won] = await versions()
    expect(lost.code).toBe('STALE_EDIT')
    expect(lost.details).toEqual({
      current: { version: 1, text: won!.text, etag: `"1.${won!.digest}"`, note: 'why', publishedBy: 'Olga Owner' },
    })
    expect(await versions()).toHaveLength(1)
    expect(await ledger()).toHaveLength(1)
  })

  it('while the rule-set key rotates ends with one newest version that the newest root verifies', async () => {
    const { etag } = await put(costRule('lead'))
    await Promise.all([
      put(costRule('lead', '    note: two\n'), etag),
      rotateKey(owner(), { role: 'ruleset' }),
      rotateKey(owner(), { role: 'ruleset' }),
    ])
    const { root } = (await rootChain(db.prisma, org.id)).at(-1)!
    expect(root.seq).toBe(3)
    const newest = (await versions()).at(-1)!
    expect(openRuleSet(newest.jws, root, crypto).set.version).toBe(2)
  })

  it('needs a note, the right of an admin, and an own sign-in or the command credential', async () => {
    expect((await thrown(put(costRule('lead'), '"0"', '  '))).code).toBe('BAD_INPUT')
    const as = async (role: 'lead' | 'auditor' | 'admin', method: 'oidc' | 'device_link' | 'admin_credential') =>
      publishRuleSet(contextOf(db.prisma, actorOf(org, await makeMember(db.prisma, org, role), role, method)), {
        text: costRule('lead'),
        note: 'x',
        etag: '"0"',
      })
    for (const [role, method] of [
      ['lead', 'oidc'],
      ['auditor', 'oidc'],
      ['admin', 'device_link'],
    ] as const)
      expect((await thrown(as(role, method))).code).toBe('FORBIDDEN')
    expect((await as('admin', 'admin_credential')).version).toBe(1)
    expect((await versions())[0]).toMatchObject({ how: 'team-cli' })
  })

  it('refuses every mistake with its place, and stores nothing', async () => {
    expect(await errorsOf(costRule('lead').replace('continue', 'contine'))).toMatchObject([
      { line: 3, column: 13, code: 'unknown_action', rule: 'session-spend' },
    ])
    expect(
      await errorsOf(
        'boundaries:\n  - { name: org:x, action: continue, when: { session_cost_usd: ">= 1" }, require: ask, stage: shadow }\n',
      ),
    ).toMatchObject([{ code: 'bad_name' }])
    expect(await versions()).toEqual([])
  })

  it('an enforced rule binds only with a case it stops and a case it lets pass, and none that fails', async () => {
    const rule = costRule('lead')
    const [head, tests] = [rule.slice(0, rule.indexOf('tests:')), rule.slice(rule.indexOf('tests:'))]
    expect(await errorsOf(head)).toMatchObject([{ code: 'not_proven', rule: 'session-spend', line: 6 }])
    const [, stop, pass] = tests.split('\n')
    expect(await errorsOf(`${head}tests:\n${stop}\n`)).toMatchObject([
      { code: 'not_proven', message: expect.stringContaining('let pass') },
    ])
    expect(await errorsOf(`${head}tests:\n${pass}\n`)).toMatchObject([
      { code: 'not_proven', message: expect.stringContaining('must stop') },
    ])
    expect(await errorsOf(rule.replace('"19.99"', '"20"'))).toMatchObject([
      { code: 'not_proven', message: expect.stringContaining('expects pass') },
    ])
    expect((await put(head.replace('enforce', 'shadow'))).version).toBe(1)
  })

  it('a rule whose role too few people hold is refused; one that only its requester could answer is warned about', async () => {
    expect(await errorsOf(costRule('admin', '    approvals: 2\n'))).toMatchObject([
      { code: 'nobody_can_answer', line: 5 },
    ])
    expect(await errorsOf(costRule('admin', '    signed: true\n'))).toMatchObject([{ code: 'nobody_can_answer' }])
    await makeMachine(db.prisma, org, org.ownerId)
    const { warnings, version } = await put(costRule('owner'))
    expect(warnings).toMatchObject([{ code: 'only_the_requester', rule: 'session-spend' }])
    await makeMember(db.prisma, org, 'owner', 'Second')
    expect((await checkBoundaries(owner(), { text: costRule('owner') })).warnings).toEqual([])
    expect(version).toBe(1)
  })

  it('names the machines that could not read it', async () => {
    const old = await makeMachine(db.prisma, org, org.ownerId, 'old')
    await makeMachine(db.prisma, org, org.ownerId, 'new')
    await db.prisma.machine.update({ where: { id: old.id }, data: { connector: '0.0.9' } })
    expect((await put(costRule('lead'))).behind).toMatchObject([{ id: old.id, label: 'old', connector: '0.0.9' }])
  })

  it('a document above 256 KiB is refused before it is read', async () => {
    expect((await thrown(put(`# ${'x'.repeat(256 * 1024)}`))).code).toBe('TOO_LARGE')
  })

  it('a connection lost in the middle stores nothing, and the next try succeeds', async () => {
    await db.admin.query(`create function slow() returns trigger language plpgsql as $$ begin perform pg_sleep(3); return new; end $$;
      create trigger slow before insert on "EvidenceEntry" for each row when (new.kind = 'ruleset.published') execute function slow()`)
    const lost = thrown(put(costRule('lead')))
    await expect
      .poll(
        async () =>
          (
            await db.admin.query(
              `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query like '%EvidenceEntry%' and state = 'active' and wait_event = 'PgSleep'`,
            )
          ).rowCount,
      )
      .toBe(1)
    await lost
    await db.admin.query('drop trigger slow on "EvidenceEntry"; drop function slow()')
    expect(await versions()).toEqual([])
    expect((await put(costRule('lead'))).version).toBe(1)
    expect(await ledger()).toHaveLength(1)
  })
})

describe('history', () => {
  it('rolling back publishes the old text as a new, higher version', async () => {
    const first = await put(costRule('lead'))
    const second = await put(costRule('lead', '    note: worse\n'), first.etag)
    expect((await thrown(rollBackRuleSet(owner(), { version: 1, note: 'back', etag: first.etag }))).code).toBe(
      'STALE_EDIT',
    )
    expect((await thrown(rollBackRuleSet(owner(), { version: 9, note: 'back', etag: second.etag }))).code).toBe(
      'NOT_FOUND',
    )
    expect(await rollBackRuleSet(owner(), { version: 1, note: 'back', etag: second.etag })).toMatchObject({
      version: 3,
    })
    const { items } = await ruleSetHistory(owner(), {})
    expect(
      items.map(({ version, rolledBackTo, note, publishedBy, rules }) => ({
        version,
        rolledBackTo,
        note,
        publishedBy,
        rules,
      })),
    ).toEqual([
      { version: 3, rolledBackTo: 1, note: 'back', publishedBy: 'Olga Owner', rules: 1 },
      { version: 2, rolledBackTo: null, note: 'why', publishedBy: 'Olga Owner', rules: 1 },
      { version: 1, rolledBackTo: null, note: 'why', publishedBy: 'Olga Owner', rules: 1 },
    ])
    expect(await ruleSetVersion(owner(), { version: 3 })).toMatchObject({
      text: costRule('lead'),
      previousText: costRule('lead', '    note: worse\n'),
      previousVersion: 2,
    })
    expect(await currentRuleSet(owner())).toMatchObject({ version: 3, text: costRule('lead'), restored: false })
  })

  it('goes on below the cursor, thirty at a time', async () => {
    let { etag } = await put('boundaries: []')
    for (let i = 0; i < 31; i++) ({ etag } = await put(`boundaries: [] # ${i}`, etag))
    const page = await ruleSetHistory(owner(), {})
    expect(page.items).toHaveLength(30)
    const rest = await ruleSetHistory(owner(), { cursor: page.next! })
    expect(rest.items.map(item => item.version)).toEqual([2, 1])
    expect(rest.next).toBeUndefined()
  })
})

describe('the editor', () => {
  it('lists each rule with its place, its cases and what they really give, and proposes what is missing', async () => {
    const text = costRule('lead')
    const draft = await checkBoundaries(owner(), { text: text.slice(0, text.indexOf('tests:')) })
    expect(draft.bindable).toBe(false)
    expect(draft.rules).toMatchObject([
      {
        name: 'session-spend',
        line: 2,
        bindable: false,
        lacking: ['must_stop', 'must_pass'],
        cases: [],
        proposed: [
          { expect: 'approver:lead', got: 'approver:lead', ok: true },
          { expect: 'pass', got: 'pass', ok: true },
        ],
      },
    ])
    expect(await checkBoundaries(owner(), { text })).toMatchObject({
      bindable: true,
      errors: [],
      ruleRoleHolders: [{ role: 'lead', holders: 1 }],
      rules: [{ bindable: true, cases: [{ ok: true }, { ok: true }], proposed: [] }],
    })
  })

  it('previews a draft over what machines reported in thirty days, and nothing older or of others', async () => {
    const machine = await makeMachine(db.prisma, org, org.ownerId)
    const other = await makeOrganisation(db.prisma)
    const theirs = await makeMachine(db.prisma, other, other.ownerId)
    const row = (id: string, orgId: string, daysAgo: number, value: string, calls: number) => ({
      machineId: id,
      orgId,
      hour: new Date(Date.now() - daysAgo * 86_400_000),
      client: 'claude-code',
      action: 'continue',
      sessionRef: someDigest(),
      calls,
      figures: [cost(value)],
    })
    await db.prisma.hourlyCount.createMany({
      data: [
        row(machine.id, org.id, 1, '25', 7),
        row(machine.id, org.id, 2, '19.99', 5),
        row(machine.id, org.id, 29, '20', 3),
        row(machine.id, org.id, 31, '99', 100),
        row(theirs.id, other.id, 1, '99', 1000),
      ],
    })
    const preview = await previewBoundaries(owner(), { text: costRule('lead') })
    expect(preview).toMatchObject({
      calls: 15,
      held: { calls: 10, sessions: 2, machines: 1 },
      rules: [{ rule: 'session-spend', calls: 10, sessions: 2, machines: 1 }],
    })
    expect((await thrown(previewBoundaries(owner(), { text: 'boundaries: 7' }))).code).toBe('BAD_INPUT')
  })
})

it('a published version cannot be changed or removed, not even by the tables’ owner', async () => {
  await publish(db.prisma, org, costRule('lead'))
  await expect(db.admin.query(`update "RuleSetVersion" set text = '' where "orgId" = $1`, [org.id])).rejects.toThrow(
    'rule_set_stays',
  )
  await expect(db.admin.query(`delete from "RuleSetVersion" where "orgId" = $1`, [org.id])).rejects.toThrow(
    'rule_set_stays',
  )
})

import { beforeEach, describe, expect, it } from 'vitest'
import { base64url } from '#core/bytes.ts'
import type { Report } from '#core/protocol.ts'
import { answerApproval } from '#server/features/approval/answer.ts'
import { fileRequest } from '#server/features/approval/file-request.ts'
import { getMachine, listMachines } from '#server/features/machine-list.ts'
import { takeReport } from '#server/features/report/report.ts'
import { confirmRestore } from '#server/features/restore.ts'
import { rotateKey } from '#server/features/root.ts'
import { publishRuleSet } from '#server/features/rule-set.ts'
import { crypto } from '#server/keys/crypto.ts'
import { sign } from '#server/keys/sign.ts'
import { reportOf, signReport, someDigest } from '../../support/connector.ts'
import { useDatabase } from '../../support/db.ts'
import {
  actorOf,
  contextOf,
  cost,
  costRule,
  makeMachine,
  makeMember,
  makeOrganisation,
  makeRequest,
  makeSigner,
  publish,
  type TestMachine,
  type TestOrganisation,
} from '../../support/makers.ts'

const db = useDatabase()
let org: TestOrganisation
let dev: string
let machine: TestMachine
let root: { rootSeq: number; rootDigest: string }

beforeEach(async () => {
  org = await makeOrganisation(db.prisma)
  dev = await makeMember(db.prisma, org, 'member', 'Dana')
  machine = await makeMachine(db.prisma, org, dev)
  root = {
    rootSeq: 1,
    rootDigest: (await db.prisma.rootDocument.findFirstOrThrow({ where: { orgId: org.id } })).digest,
  }
})

type Over = Parameters<typeof reportOf>[2]
const send = (seq: number, over: Over = {}, of = machine) => sendJws(make(seq, over, of), of)
const make = (seq: number, over: Over = {}, of = machine) =>
  signReport(of, reportOf(of, seq, { ...over, rules: { ...root, ...over.rules } }))
const sendJws = (jws: string, of = machine) => takeReport(contextOf(db.prisma, of.actor), { report: jws })
const row = () => db.prisma.machine.findUniqueOrThrow({ where: { id: machine.id } })
const owner = () => contextOf(db.prisma, actorOf(org, org.ownerId, 'owner'))
/** What the ledger says of machines and journals, oldest first. */
async function told() {
  const entries = await db.prisma.evidenceEntry.findMany({
    where: {
      orgId: org.id,
      OR: [
        { kind: { startsWith: 'machine.' } },
        { kind: { startsWith: 'journal.' } },
        { kind: 'ruleset.equivocation' },
        { kind: { startsWith: 'organisation.restore' } },
      ],
    },
    orderBy: { seq: 'asc' },
  })
  return entries.map(entry => ({
    kind: entry.kind,
    ...(JSON.parse(Buffer.from(entry.bytes).toString()).data as object),
  }))
}
const alarms = async () =>
  (await db.prisma.machineAlarm.findMany({ where: { machineId: machine.id }, orderBy: { what: 'asc' } })).map(
    a => a.what,
  )
const digestOf = (jws: string) => base64url(crypto.sha256(Buffer.from(jws.split('.')[1]!, 'base64url')))
/** A rule set of a version that this database does not hold, signed by the organisation's own key. */
async function signedSet(version: number, of = org): Promise<{ version: number; digest: string; proof: string }> {
  const { jws } = await db.prisma.ruleSetVersion.findFirstOrThrow({ where: { orgId: of.id } })
  const set = JSON.parse(Buffer.from(jws.split('.')[1]!, 'base64url').toString()) as object
  const proof = await sign(db.prisma, of.id, 'ruleset', 'holdpoint-ruleset+jws', { ...set, version })
  return { version, digest: digestOf(proof), proof }
}
const standing = () =>
  db.prisma.organisation.findUniqueOrThrow({
    where: { id: org.id },
    select: { highestReported: true, restoredAt: true },
  })

describe('order', () => {
  it('a report is taken once: the same bytes again, and an older one late, change nothing', async () => {
    const count = {
      hour: new Date().toISOString(),
      client: 'claude-code' as const,
      action: 'continue' as const,
      sessionRef: someDigest(),
      calls: 5,
      figures: [cost('3')],
    }
    const early = make(6, { at: new Date(Date.now() - 60_000).toISOString(), counts: [{ ...count, calls: 1000 }] })
    const first = make(7, { counts: [count] })
    expect(await sendJws(first)).toEqual({ seq: 7 })
    expect(await sendJws(first)).toEqual({ seq: 7 })
    expect(await sendJws(early)).toEqual({ seq: 7 })
    expect(await db.prisma.hourlyCount.findMany({ where: { machineId: machine.id } })).toMatchObject([{ calls: 5 }])
    expect(await told()).toEqual([])
  })

  it('another content under a used number shows a copied home, once, and the page says alarm', async () => {
    await send(3)
    await send(3, { connector: '0.1.1' })
    await send(2, { at: new Date(Date.now() + 1000).toISOString() })
    expect(await told()).toEqual([{ kind: 'machine.cloned', seq: 3, recordedSeq: 3 }])
    expect(await row()).toMatchObject({ reportSeq: 3, connector: '0.1.0' })
    expect(await alarms()).toEqual(['machine_cloned'])
    expect(await listMachines(owner())).toMatchObject([{ state: 'alarm' }])
  })

  it('a copied home keeps nothing back: what it did is taken all the same', async () => {
    await send(3)
    await send(3, { unguarded: [{ client: 'claude-code', sessionRef: someDigest(), calls: 4, day: '2026-01-01' }] })
    expect((await told()).map(t => t.kind)).toEqual(['machine.unguarded_calls', 'machine.cloned'])
  })

  it('fifty reports of one machine at once leave the newest standing, and every count in', async () => {
    const sessionRef = someDigest()
    const hour = new Date().toISOString()
    const one = (seq: number) =>
      send(seq, {
        at: new Date(1_800_000_000_000 + seq).toISOString(),
        counts: [
          { hour, client: 'claude-code', action: 'continue', sessionRef, calls: 1, figures: [cost(String(seq))] },
        ],
      })
    const answers = await Promise.all(Array.from({ length: 50 }, (_, i) => one(i + 1)))
    const taken = new Set(answers.map(answer => answer.seq))
    expect(await row()).toMatchObject({ reportSeq: 50, clonedAt: null })
    // late ones are replays; those that came in order are each counted once
    const [count] = await db.prisma.hourlyCount.findMany({ where: { machineId: machine.id } })
    expect(count!.calls).toBe(taken.size)
    expect(count!.figures).toMatchObject([{ value: '50' }])
  })

  it('fifty machines at once are all taken, each with its own segment in one gapless ledger', async () => {
    const fleet = await Promise.all(Array.from({ length: 50 }, (_, i) => makeMachine(db.prisma, org, dev, `m${i}`)))
    await Promise.all(fleet.map(of => send(1, { journal: { seq: 9, head: someDigest() } }, of)))
    expect((await told()).filter(t => t.kind === 'journal.segment')).toHaveLength(50)
    const { size } = await db.prisma.ledger.findUniqueOrThrow({ where: { orgId: org.id } })
    expect(await db.prisma.evidenceEntry.count({ where: { orgId: org.id } })).toBe(size)
  })

  it('is refused when another key signed it, when it is about another machine, or says anything beside its fields', async () => {
    const other = await makeMachine(db.prisma, org, dev, 'other')
    await expect(sendJws(make(1, {}, other))).rejects.toMatchObject({ code: 'BAD_SIGNATURE' })
    await expect(sendJws(signReport(machine, reportOf(other, 1)))).rejects.toMatchObject({ code: 'FORBIDDEN' })
    await expect(
      sendJws(signReport(machine, { ...reportOf(machine, 1), cwd: '/home/dana/secret' })),
    ).rejects.toMatchObject({ code: 'BAD_INPUT' })
    expect(await row()).toMatchObject({ reportSeq: 0 })
  })

  it('a connection lost in the middle takes nothing; the report sent again is taken whole', async () => {
    await db.admin.query(`create function slow() returns trigger language plpgsql as $$ begin perform pg_sleep(3); return new; end $$;
      create trigger slow before insert on "EvidenceEntry" for each row when (new.kind = 'journal.segment') execute function slow()`)
    const jws = make(1, {
      journal: { seq: 4, head: someDigest() },
      unguarded: [{ client: 'claude-code', sessionRef: someDigest(), calls: 2, day: '2026-01-01' }],
    })
    const lost = sendJws(jws).then(
      () => 'taken',
      () => 'lost',
    )
    await expect
      .poll(
        async () =>
          (
            await db.admin.query(
              `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and state = 'active' and wait_event = 'PgSleep'`,
            )
          ).rowCount,
      )
      .toBe(1)
    expect(await lost).toBe('lost')
    await db.admin.query('drop trigger slow on "EvidenceEntry"; drop function slow()')
    expect(await row()).toMatchObject({ reportSeq: 0, journalHead: null })
    expect(await db.prisma.unguardedCalls.count({ where: { machineId: machine.id } })).toBe(0)
    expect(await sendJws(jws)).toMatchObject({ seq: 1, journal: { seq: 4 } })
    expect((await told()).map(t => t.kind)).toEqual(['machine.unguarded_calls', 'journal.segment'])
  })
})

describe('the journal', () => {
  it('growing is one segment a report; the tail cut, the line rewritten, and the file gone are told apart', async () => {
    const [h10, h20, h15, other, h3] = [someDigest(), someDigest(), someDigest(), someDigest(), someDigest()]
    expect(await send(1, { journal: { seq: 10, head: h10 } })).toEqual({ seq: 1, journal: { seq: 10, head: h10 } })
    await send(2, { journal: { seq: 20, head: h20, anchor: { seq: 10, head: h10 } } })
    await send(3, { journal: { seq: 20, head: h20, anchor: { seq: 20, head: h20 } } })
    expect(await told()).toEqual([
      { kind: 'journal.segment', from: 0, to: 10, head: h10 },
      { kind: 'journal.segment', from: 11, to: 20, head: h20 },
    ])
    await send(4, { journal: { seq: 15, head: h15, anchor: { seq: 15, head: h15 } } })
    expect((await told()).at(-1)).toEqual({
      kind: 'journal.rolled_back',
      recordedSeq: 20,
      recordedHead: h20,
      seq: 15,
      head: h15,
    })
    await send(5, { journal: { seq: 16, head: other, anchor: { seq: 15, head: someDigest() } } })
    expect((await told()).at(-1)).toMatchObject({ kind: 'journal.rolled_back', recordedSeq: 15 })
    await send(6, { journal: { seq: 17, head: h3 } })
    expect((await told()).at(-1)).toEqual({
      kind: 'journal.reset',
      recordedSeq: 16,
      recordedHead: other,
      seq: 17,
      head: h3,
    })
    expect(await alarms()).toEqual(expect.arrayContaining(['journal_reset', 'journal_rolled_back']))
    expect(await listMachines(owner())).toMatchObject([{ state: 'alarm' }])
  })

  it('a whole home put back, journal and numbers, is a reset where it says so and never a fresh start', async () => {
    const head = someDigest()
    await send(9, { journal: { seq: 10, head: someDigest() } })
    expect(await send(1, { at: new Date(Date.now() + 1000).toISOString(), journal: { seq: 1, head } })).toEqual({
      seq: 9,
      journal: { seq: 1, head },
    })
    expect((await told()).map(t => t.kind)).toEqual(['journal.segment', 'journal.reset'])
  })
})

describe('a newer connector', () => {
  const at = new Date().toISOString()
  const hook = (off: string[]) => ({ client: 'claude-code' as const, level: 'broken' as const, off })

  it('is heard with words that this server does not have: they are kept as other, and it is looked at', async () => {
    await send(1, {
      rules: { ...root, lastError: { code: 'some_new_refusal', at } },
      hooks: [hook(['some_new_switch', 'hook_edited'])],
      alarms: [
        { what: 'some_new_alarm', at, count: 3 },
        { what: 'disk_full', at, count: 1 },
      ],
    })
    expect((await row()).reportSeq).toBe(1)
    expect(await alarms()).toEqual(['disk_full', 'other'])
    expect(await getMachine(owner(), { id: machine.id })).toMatchObject({
      state: 'alarm',
      lastError: 'other',
      hooks: [{ client: 'claude-code', off: ['hook_edited', 'other'] }],
    })
    // the word itself is nowhere: what a server does not know it does not keep
    const kept = await db.admin.query(`select (select coalesce(json_agg(m), '[]') from "MachineAlarm" m)::text
      || (select coalesce(json_agg(h), '[]') from "MachineHook" h)::text || (select json_agg(m) from "Machine" m)::text as text`)
    expect(kept.rows[0].text).not.toContain('some_new')
    expect(JSON.stringify(await told())).not.toContain('some_new')
  })

  it.each([
    'two words',
    'please_delete_the_staging_database_before_noon',
    'a_b_c_d_e_f_g',
    'abcdefghijklmnopqrstuvwxyz',
    'Upper',
    'sk-ant-api',
    'opus4',
    '',
    'x'.repeat(41),
  ])('has no alarm that reads %j: the report is refused', async what => {
    await expect(send(1, { alarms: [{ what, at, count: 1 }] })).rejects.toMatchObject({ code: 'BAD_INPUT' })
    expect(await alarms()).toEqual([])
  })

  it('cannot raise what only this server finds', async () => {
    await send(1, { alarms: [{ what: 'machine_cloned', at, count: 1 }] })
    expect(await alarms()).toEqual(['other'])
  })
})

describe('rules in force', () => {
  it('what a machine has in force is on its page: current, behind, silent', async () => {
    const { version, digest } = await publish(db.prisma, org, costRule('lead'))
    await send(1, { rules: { version, digest, freshAt: new Date().toISOString() } })
    expect(await listMachines(owner())).toMatchObject([{ state: 'current', rulesVersion: 1, member: { name: 'Dana' } }])
    await publish(db.prisma, org, costRule('lead', '    note: newer\n'))
    expect(await listMachines(owner())).toMatchObject([{ state: 'behind' }])
    expect(await listMachines({ ...owner(), now: new Date(Date.now() + 16 * 60_000) })).toMatchObject([
      { state: 'silent' },
    ])
    expect(await told()).toEqual([])
  })

  it('one version with two digests is an alarm, between server and machine and between two machines', async () => {
    const { version, digest } = await publish(db.prisma, org, costRule('lead'))
    const shown = someDigest()
    await send(1, { rules: { version, digest: shown } })
    await send(2, { rules: { version, digest: shown } })
    expect(await told()).toEqual([
      { kind: 'ruleset.equivocation', document: 'ruleset', version: 1, reportedDigest: shown, otherDigest: digest },
    ])
    expect(await getMachine(owner(), { id: machine.id })).toMatchObject({ equivocation: true, state: 'alarm' })
  })

  it('a root that this server never made is an alarm, once', async () => {
    const rootDigest = someDigest()
    await send(1, { rules: { rootDigest } })
    await send(2, { rules: { rootDigest } })
    await send(3, { rules: { rootSeq: 7, rootDigest } })
    expect(await told()).toEqual([
      {
        kind: 'ruleset.equivocation',
        document: 'root',
        seq: 1,
        reportedDigest: rootDigest,
        otherDigest: root.rootDigest,
      },
      { kind: 'ruleset.equivocation', document: 'root', seq: 7, reportedDigest: rootDigest },
    ])
  })

  it.each([
    'lower_version',
    'same_version_other_content',
    'wrong_next_key',
    'unknown_key',
    'wrong_predecessor',
  ] as const)('the refusal %s is shown on the machine and told once per change', async code => {
    const at = new Date().toISOString()
    await send(1, { rules: { lastError: { code, at } } })
    await send(2, { rules: { lastError: { code, at } } })
    await send(3, { rules: { lastError: { code: 'unreachable', at } } })
    expect(await told()).toEqual([{ kind: 'machine.reported_refusal', code, at }])
    expect(await row()).toMatchObject({ lastError: 'unreachable' })
    await send(4)
    expect(await row()).toMatchObject({ lastError: null, lastErrorAt: null })
  })
})

describe('what happens on the machine', () => {
  it('a changed level of a client is told with what switches it off, an unchanged one is not', async () => {
    const hooks: Report['hooks'] = [{ client: 'claude-code', version: '2.1.0', level: 'user-hook', off: [] }]
    await send(1, { hooks })
    await send(2, { hooks: [{ ...hooks[0]!, version: '2.1.1' }] })
    await send(3, { hooks: [{ ...hooks[0]!, level: 'broken', off: ['proxy_diverts_hook', 'hook_edited'] }] })
    await send(4, { hooks: [] })
    expect(await told()).toEqual([
      { kind: 'machine.level_changed', client: 'claude-code', from: 'not-installed', to: 'user-hook', off: [] },
      {
        kind: 'machine.level_changed',
        client: 'claude-code',
        from: 'user-hook',
        to: 'broken',
        off: ['hook_edited', 'proxy_diverts_hook'],
      },
      { kind: 'machine.level_changed', client: 'claude-code', from: 'broken', to: 'not-installed', off: [] },
    ])
  })

  it('unguarded calls are running totals: growth is told, less is never believed, and the page sums a week', async () => {
    const day = new Date().toISOString().slice(0, 10)
    const [a, b] = [someDigest(), someDigest()]
    await send(1, {
      unguarded: [
        { client: 'claude-code', sessionRef: a, calls: 3, day },
        { client: 'claude-code', sessionRef: b, calls: 2, day },
      ],
    })
    await send(2, { unguarded: [{ client: 'claude-code', sessionRef: a, calls: 1, day }] })
    await send(3, { unguarded: [{ client: 'claude-code', sessionRef: a, calls: 4, day }] })
    expect(await told()).toEqual([
      { kind: 'machine.unguarded_calls', client: 'claude-code', added: 5 },
      { kind: 'machine.unguarded_calls', client: 'claude-code', added: 1 },
    ])
    expect(await listMachines(owner())).toMatchObject([{ unguarded7d: 6 }])
  })

  it('counts of an hour add up over reports and keep the figure nearest to holding; hours of a broken clock are left out', async () => {
    const base = { client: 'claude-code' as const, action: 'continue' as const, sessionRef: someDigest() }
    const left = (value: string) => ({ name: 'plan_left_pct' as const, qualifier: 'week', value, unit: 'pct' as const })
    const hour = new Date().toISOString()
    await send(1, { counts: [{ ...base, hour, calls: 5, figures: [cost('20'), left('30')] }] })
    await send(2, {
      counts: [
        { ...base, hour, calls: 2, figures: [cost('9'), left('12')] },
        { ...base, hour: '2099-01-01T00:00:00.000Z', calls: 7, figures: [] },
      ],
    })
    expect(await db.prisma.hourlyCount.findMany({ where: { machineId: machine.id } })).toMatchObject([
      { calls: 7, figures: [{ value: '20' }, { value: '12' }] },
    ])
  })

  it('an outcome sent again with another end is one row; other people do not see its figures', async () => {
    const outcome: Report['outcomes'][number] = {
      handle: 'bnd-00000000000a',
      rule: 'session-spend',
      client: 'claude-code',
      action: 'continue',
      sessionRef: someDigest(),
      stage: 'enforce',
      outcome: 'approver',
      did: 'refused',
      at: new Date().toISOString(),
      figures: [cost('20.14')],
    }
    await send(1, { outcomes: [outcome] })
    await send(2, { outcomes: [{ ...outcome, did: 'released' }] })
    expect((await getMachine(owner(), { id: machine.id })).outcomes).toMatchObject([{ did: 'released', figures: null }])
    expect(
      (await getMachine(contextOf(db.prisma, actorOf(org, dev, 'member')), { id: machine.id })).outcomes,
    ).toMatchObject([{ figures: [{ value: '20.14' }] }])
  })

  it('a grant that was used on the machine is used here, once', async () => {
    await publish(db.prisma, org, costRule('lead'))
    const lead = actorOf(org, await makeMember(db.prisma, org, 'lead', 'Lea'), 'lead')
    const request = await makeRequest(db.prisma, machine)
    const { handle } = await fileRequest(contextOf(db.prisma, machine.actor), {
      request: machine.sign('holdpoint-request+jws', request),
    })
    await answerApproval(contextOf(db.prisma, lead), { handle, decision: 'approve', scope: 'step', reason: '' })
    const { answerId } = await db.prisma.approvalAnswer.findUniqueOrThrow({
      where: { orgId_handle: { orgId: org.id, handle } },
    })
    const grant = { handle, answerId, what: 'used' as const, at: new Date().toISOString() }
    await send(1, { grants: [grant] })
    await send(2, { grants: [grant, { ...grant, handle: 'bnd-ffffffffffff' }] })
    expect(
      (await db.prisma.approvalRequest.findUniqueOrThrow({ where: { orgId_handle: { orgId: org.id, handle } } })).state,
    ).toBe('used')
    expect(await db.prisma.evidenceEntry.count({ where: { orgId: org.id, kind: 'approval.used' } })).toBe(1)
  })
})

describe('a restored backup', () => {
  it('is noticed by a version nobody here published: no publish until an owner confirms, then above everything seen', async () => {
    const { etag } = await publish(db.prisma, org, costRule('lead'))
    const request = await makeRequest(db.prisma, machine)
    const { handle } = await fileRequest(contextOf(db.prisma, machine.actor), {
      request: machine.sign('holdpoint-request+jws', request),
    })
    await db.prisma.session.create({
      data: {
        id: `ses_${handle}`,
        tokenHash: handle,
        memberId: dev,
        orgId: org.id,
        method: 'email_code',
        authnAt: new Date(),
        expiresAt: new Date(Date.now() + 3600_000),
        createdAt: new Date(),
      },
    })
    const signed = await signedSet(7)
    await Promise.all([
      send(1, { rules: signed }),
      send(1, { rules: signed }, await makeMachine(db.prisma, org, dev, 'second')),
    ])
    expect(await db.prisma.organisation.findUniqueOrThrow({ where: { id: org.id } })).toMatchObject({
      highestReported: 7,
      restoredAt: expect.any(Date),
    })
    expect(await told()).toEqual([
      { kind: 'organisation.restored', reportedVersion: 7, newestVersion: 1, reportedDigest: signed.digest },
    ])
    expect(
      (await db.prisma.approvalRequest.findUniqueOrThrow({ where: { orgId_handle: { orgId: org.id, handle } } })).state,
    ).toBe('withdrawn')
    expect(await db.prisma.session.count({ where: { orgId: org.id } })).toBe(0)
    const again = () => publishRuleSet(owner(), { text: costRule('lead'), note: 'x', etag })
    await expect(again()).rejects.toMatchObject({ code: 'RESTORED' })
    await expect(confirmRestore(contextOf(db.prisma, actorOf(org, dev, 'admin')))).rejects.toMatchObject({
      code: 'FORBIDDEN',
    })
    expect(await confirmRestore(owner())).toEqual({ nextVersion: 8 })
    await expect(confirmRestore(owner())).rejects.toMatchObject({ code: 'CONFLICT' })
    expect(await again()).toMatchObject({ version: 8 })
    expect(await alarms()).toEqual([])
  })

  it('is proven by a set that an earlier ruleset key has signed', async () => {
    await publish(db.prisma, org, costRule('lead'))
    const signed = await signedSet(9)
    await rotateKey(owner(), { role: 'ruleset' })
    await send(1, { rules: signed })
    expect(await standing()).toMatchObject({ highestReported: 9, restoredAt: expect.any(Date) })
  })

  it('is not believed on a single machine’s word: an alarm on it, and nobody is stopped', async () => {
    await publish(db.prisma, org, costRule('lead'))
    const signed = await signedSet(7)
    const forged = makeSigner().sign('holdpoint-ruleset+jws', {
      ...(JSON.parse(Buffer.from(signed.proof.split('.')[1]!, 'base64url').toString()) as object),
      version: 8,
    })
    const foreign = await makeOrganisation(db.prisma)
    await publish(db.prisma, foreign, costRule('lead'))
    const claims = [
      { version: 1_000_000_000, digest: someDigest() },
      { version: 6, digest: signed.digest, proof: signed.proof },
      { version: 7, digest: someDigest(), proof: signed.proof },
      { version: 8, digest: digestOf(forged), proof: forged },
      await signedSet(10, foreign),
    ]
    for (const [i, rules] of claims.entries()) await send(i + 1, { rules })
    expect(await standing()).toEqual({ highestReported: 0, restoredAt: null })
    expect(new Set(await alarms())).toEqual(new Set(['version_unproven']))
    expect((await told()).map(({ kind }) => kind)).not.toContain('organisation.restored')
    await send(9, { rules: signed })
    expect(await standing()).toMatchObject({ highestReported: 7 })
  })
})

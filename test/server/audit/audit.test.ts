import { beforeAll, describe, expect, it } from 'vitest'
import { csvText } from '#core/csv.ts'
import { entryLeaf } from '#core/evidence/entry.ts'
import { evidenceRows, listEvidence } from '#server/features/audit.ts'
import { addConnection } from '#server/features/connection.ts'
import { recordEvidence } from '#server/features/evidence.ts'
import { inviteMember } from '#server/features/invitation.ts'
import { getOverview } from '#server/features/overview.ts'
import { takeReport } from '#server/features/report/report.ts'
import { rotateKey } from '#server/features/root.ts'
import { grantFigures } from '#server/features/spend/grant.ts'
import { crypto } from '#server/keys/crypto.ts'
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
  publish,
  random,
  type TestMachine,
  type TestOrganisation,
} from '../../support/makers.ts'

const db = useDatabase()
let org: TestOrganisation
let dev: string
let machine: TestMachine
const as = (id: string, role: 'owner' | 'admin' | 'member' | 'auditor' | 'lead') =>
  contextOf(db.prisma, actorOf(org, id, role))
const owner = () => as(org.ownerId, 'owner')

beforeAll(async () => {
  org = await makeOrganisation(db.prisma)
  dev = await makeMember(db.prisma, org, 'member', 'Dana')
  machine = await makeMachine(db.prisma, org, dev)
  await publish(db.prisma, org, costRule('lead'))
  await db.prisma.$transaction(tx =>
    recordEvidence(
      tx,
      { actor: actorOf(org, dev, 'member'), now: new Date('2030-05-01T10:00:00Z'), random },
      { kind: 'member.signed_in', subject: { kind: 'member', id: dev } },
    ),
  )
  await takeReport(contextOf(db.prisma, machine.actor), {
    report: signReport(
      machine,
      reportOf(machine, 1, {
        journal: { seq: 3, head: someDigest() },
        outcomes: [
          {
            handle: 'bnd-00000000000a',
            rule: 'session-spend',
            client: 'claude-code',
            action: 'continue',
            sessionRef: someDigest(),
            stage: 'enforce',
            outcome: 'approver',
            did: 'refused',
            at: new Date().toISOString(),
            figures: [cost('21')],
          },
        ],
      }),
    ),
  })
})

describe('the audit list', () => {
  it('shows what was hashed: every leaf is the hash of the bytes that the row was read from', async () => {
    const { items, size, root } = await listEvidence(owner(), {})
    expect(items).toHaveLength(size)
    expect(root).toMatch(/^[A-Za-z0-9_-]{43}$/)
    const bytes = await db.prisma.evidenceEntry.findMany({ where: { orgId: org.id }, orderBy: { seq: 'desc' } })
    expect(items.map(item => item.leaf)).toEqual(bytes.map(row => entryLeaf(row.bytes, crypto.sha256)))
  })

  it('filters by kind, noun, person, machine, subject and time', async () => {
    const kinds = async (filter: object) => (await listEvidence(owner(), filter)).items.map(item => item.kind)
    expect(await kinds({ kind: 'ruleset.published' })).toEqual(['ruleset.published'])
    expect(await kinds({ kind: 'member' })).toEqual(['member.signed_in', 'member.joined'])
    expect(await kinds({ actor: dev })).toEqual(['member.signed_in'])
    expect(await kinds({ actor: machine.id })).toEqual(['journal.segment'])
    expect(await kinds({ subject: machine.id })).toEqual(['journal.segment'])
    expect(await kinds({ from: new Date('2030-05-01'), to: new Date('2030-05-02') })).toEqual(['member.signed_in'])
    expect(await kinds({ actor: 'mem_AAAAAAAAAAAAAAAA' })).toEqual([])
  })

  it('goes on below the cursor without a gap', async () => {
    const other = await makeOrganisation(db.prisma)
    const actor = actorOf(other, other.ownerId, 'owner')
    for (let i = 0; i < 60; i++)
      await db.prisma.$transaction(tx =>
        recordEvidence(tx, { actor, now: new Date(), random }, { kind: 'organisation.setting_changed', data: { i } }),
      )
    const first = await listEvidence(contextOf(db.prisma, actor), {})
    const second = await listEvidence(contextOf(db.prisma, actor), { cursor: first.next! })
    expect([...first.items, ...second.items].map(item => item.seq)).toEqual(
      Array.from({ length: first.size }, (_, i) => first.size - i),
    )
    expect(second.next).toBeUndefined()
  })

  it('names people to admins and auditors; to a member only themselves', async () => {
    const namesFor = async (ctx: ReturnType<typeof as>) =>
      (await listEvidence(ctx, { kind: 'member' })).items.map(item => item.subject!.name)
    expect(await namesFor(owner())).toEqual(['Dana', 'Olga Owner'])
    expect(await namesFor(as(await makeMember(db.prisma, org, 'auditor', 'Audra'), 'auditor'))).toEqual([
      'Dana',
      'Olga Owner',
    ])
    expect(await namesFor(as(dev, 'member'))).toEqual(['Dana', null])
    expect((await listEvidence(as(dev, 'member'), { actor: org.ownerId })).items).toEqual([])
  })

  it('says what a machine spent to its member and to whoever holds a grant, and to nobody by role', async () => {
    const now = new Date()
    const org = await makeOrganisation(db.prisma)
    const dev = await makeMember(db.prisma, org, 'member', 'Dana')
    const [machine, other] = [
      await makeMachine(db.prisma, org, dev, 'dana-laptop'),
      await makeMachine(db.prisma, org, org.ownerId, 'olga-laptop'),
    ]
    const as = (id: string, role: 'owner' | 'admin' | 'member' | 'auditor') =>
      contextOf(db.prisma, actorOf(org, id, role), now)
    const owner = () => as(org.ownerId, 'owner')
    const entries = {
      'usage.lowered': { old: '12.5', new: '12.5', oldCalls: 40, newCalls: 40 },
      'usage.repriced': { old: '12.5', new: '12.5' },
      'budget.reservation_overrun': { reserved: '12.5', spent: '12.5' },
    } as const
    const kinds = Object.keys(entries) as (keyof typeof entries)[]
    await db.prisma.$transaction(async tx => {
      const by = { actor: { kind: 'system', orgId: org.id }, now, random } as const
      for (const { id } of [machine, other]) {
        for (const kind of kinds)
          await recordEvidence(tx, by, {
            kind,
            subject: { kind: 'machine', id },
            data: { day: '2026-11-01', ...entries[kind] },
          })
        const data = { budget: 'each', of: { machine: id }, steps: [80], amount: '10', currency: 'USD' }
        await recordEvidence(tx, by, {
          kind: 'budget.step_reached',
          subject: { kind: 'organisation', id: org.id },
          data,
        })
      }
    })
    /** Of whose machine an entry says figures. */
    const told = async (ctx: ReturnType<typeof as>) => {
      const { items } = await listEvidence(ctx, {})
      const about = items.filter(({ kind }) => kind === 'budget.step_reached' || kinds.some(one => one === kind))
      expect(about).toHaveLength(8)
      const csv = (await evidenceRows(ctx, {})).rows.flat().join(' ')
      const seen = (
        [
          ['dana', machine],
          ['olga', other],
        ] as const
      )
        .filter(([, { id }]) => {
          const of = about.filter(({ subject, data }) => subject?.ref === id && JSON.stringify(data).match(/12\.5|40/))
          const steps = about.filter(({ data }) => JSON.stringify(data.of)?.includes(id))
          expect([0, 3]).toContain(of.length)
          expect(steps.length).toBe(of.length / 3)
          return of.length > 0
        })
        .map(([name]) => name)
      expect(csv.includes('12.5')).toBe(seen.length > 0)
      return seen
    }
    const auditor = await makeMember(db.prisma, org, 'auditor', 'Audra')
    expect(await told(as(auditor, 'auditor'))).toEqual([])
    expect(await told(as(await makeMember(db.prisma, org, 'admin', 'Ada'), 'admin'))).toEqual([])
    expect(await told(as(dev, 'member'))).toEqual(['dana'])
    await grantFigures(owner(), { holderId: auditor, subjectId: dev, reason: 'the yearly audit', days: 9 })
    expect(await told(as(auditor, 'auditor'))).toEqual(['dana'])
    expect(await told(owner())).toEqual(['olga'])
  })

  it('names invited people, providers, keys and credentials, a member sees none of the people', async () => {
    await inviteMember(owner(), { email: 'yara@new.test', name: 'Yara', role: 'lead' })
    const provider = {
      name: 'Login',
      issuer: 'https://login.example.com',
      clientId: 'x',
      clientSecret: 'y',
      domains: [],
    }
    const connection = await addConnection(owner(), provider, async () => {})
    const { kid } = await rotateKey(owner(), { role: 'fresh' })
    const about = async (ctx: ReturnType<typeof as>, kind: string) => {
      const [item] = (await listEvidence(ctx, { kind })).items
      return [item!.subject!.name, item!.mentioned]
    }
    expect(await about(owner(), 'member.invited')).toEqual(['Yara', {}])
    expect(await about(as(dev, 'member'), 'member.invited')).toEqual([null, {}])
    expect((await listEvidence(owner(), { subject: connection.id })).items[0]!.subject!.name).toBe('Login')
    const [name, mentioned] = await about(owner(), 'key.rotated')
    expect(name).toBe('fresh')
    expect(mentioned).toMatchObject({ [kid]: 'fresh' })
    const other = await makeOrganisation(db.prisma)
    await db.prisma.$transaction(tx =>
      recordEvidence(
        tx,
        { actor: actorOf(other, other.ownerId, 'owner'), now: new Date(), random },
        {
          kind: 'connection.removed',
          subject: { kind: 'connection', id: connection.id },
          data: { machine: machine.id },
        },
      ),
    )
    const theirs = contextOf(db.prisma, actorOf(other, other.ownerId, 'owner'))
    expect(await about(theirs, 'connection.removed')).toEqual([null, {}])
  })

  it('an erased salt leaves an entry of which nobody can say whose it was, and the ledger unchanged', async () => {
    const gone = await makeMember(db.prisma, org, 'member', 'Gone')
    await db.prisma.$transaction(tx =>
      recordEvidence(
        tx,
        { actor: actorOf(org, gone, 'member'), now: new Date(), random },
        { kind: 'member.signed_in' },
      ),
    )
    const { root } = await listEvidence(owner(), {})
    await db.admin.query('delete from "EvidencePerson" where "memberId" = $1', [gone])
    const { items, root: after } = await listEvidence(owner(), { kind: 'member.signed_in' })
    expect(items[0]!.actor).toMatchObject({ kind: 'member', name: null, erased: true })
    expect(after).toBe(root)
    expect((await evidenceRows(owner(), { kind: 'member.signed_in' })).rows.flat()).toContain('erased')
  })

  it('exports the same as a CSV, oldest first', async () => {
    const { columns, rows } = await evidenceRows(owner(), { kind: 'member' })
    const csv = csvText(columns, rows)
    const lines = csv.split('\r\n')
    expect(lines[0]).toBe(
      'seq,received_at_utc,reported_at_utc,kind,actor_kind,actor,actor_ref,method,subject_kind,subject,subject_ref,data,leaf',
    )
    expect(lines[1]).toMatch(/^2,.*,member\.joined,system,Control plane,control-plane,,member,Olga Owner,/)
    expect(lines[1]).toContain('"{""how"":""created"",""role"":""owner""}"')
  })

  it('holds no name, address or free text of anybody in its bytes', async () => {
    const rows = await db.prisma.evidenceEntry.findMany({ where: { orgId: org.id } })
    const all = rows.map(row => Buffer.from(row.bytes).toString()).join('\n')
    for (const secret of ['Dana', 'Olga', 'Yara', '@', 'for a test', dev, org.ownerId])
      expect(all).not.toContain(secret)
  })
})

describe('the overview', () => {
  it('says what waits, how the machines stand, what is in force and what it does', async () => {
    expect(await getOverview(owner())).toMatchObject({
      waiting: [],
      machines: { total: 1, behind: 1, left: 0 },
      ruleSet: { version: 1, publishedBy: 'Olga Owner' },
      bite: [{ rule: 'session-spend', require: 'approver:lead', stage: 'enforce', calls: 1, sessions: 1, machines: 1 }],
      setup: { hasMachine: true, hasRules: true, hasMembers: true },
      restoredAt: null,
    })
  })
  it('of a fresh organisation says what to do next', async () => {
    const fresh = await makeOrganisation(db.prisma)
    expect(await getOverview(contextOf(db.prisma, actorOf(fresh, fresh.ownerId, 'owner')))).toMatchObject({
      ruleSet: null,
      bite: [],
      machines: { total: 0 },
      setup: { hasMachine: false, hasRules: false, hasMembers: false },
    })
  })
})

import { beforeEach, describe, expect, it } from 'vitest'
import { fileRequest } from '#server/features/approval/file-request.ts'
import { getApproval } from '#server/features/approval/read.ts'
import { leave, revokeMachine } from '#server/features/machine.ts'
import { getMachine, listMachines, stateOf } from '#server/features/machine-list.ts'
import { reportLaptopLost } from '#server/features/member.ts'
import { useDatabase } from '../../support/db.ts'
import {
  actorOf,
  contextOf,
  costRule,
  makeMachine,
  makeMember,
  makeOrganisation,
  makeRequest,
  publish,
  type TestMachine,
  type TestOrganisation,
} from '../../support/makers.ts'

const db = useDatabase()
let org: TestOrganisation
let dev: string
let machine: TestMachine
const owner = () => contextOf(db.prisma, actorOf(org, org.ownerId, 'owner'))

beforeEach(async () => {
  org = await makeOrganisation(db.prisma)
  dev = await makeMember(db.prisma, org, 'member', 'Dana')
  machine = await makeMachine(db.prisma, org, dev)
  await publish(db.prisma, org, costRule('lead'))
})

async function waiting(): Promise<string> {
  const request = await makeRequest(db.prisma, machine)
  return (
    await fileRequest(contextOf(db.prisma, machine.actor), { request: machine.sign('holdpoint-request+jws', request) })
  ).handle
}
const stateIn = async (handle: string) =>
  (await db.prisma.approvalRequest.findUniqueOrThrow({ where: { orgId_handle: { orgId: org.id, handle } } })).state
const kinds = async () =>
  (
    await db.prisma.evidenceEntry.findMany({
      where: { orgId: org.id, kind: { in: ['machine.left', 'machine.revoked'] } },
    })
  ).map(entry => entry.kind)
const live = () => db.prisma.token.count({ where: { machineId: machine.id, revokedAt: null } })

describe('ending a machine', () => {
  it('leaving ends its token and withdraws what it asked for, once, however often it is said', async () => {
    const handle = await waiting()
    await Promise.all([leave(contextOf(db.prisma, machine.actor)), leave(contextOf(db.prisma, machine.actor))])
    expect(await live()).toBe(0)
    expect(await stateIn(handle)).toBe('withdrawn')
    expect(await kinds()).toEqual(['machine.left'])
    expect(await listMachines(owner())).toMatchObject([{ state: 'left' }])
  })

  it('an admin revokes anybody’s, a member their own, nobody else any; look-only sessions of its links end with it', async () => {
    const handle = await waiting()
    const token = await db.prisma.token.create({
      data: {
        id: 'crd_link000000000000',
        kind: 'deviceLink',
        hash: machine.id,
        orgId: org.id,
        memberId: dev,
        machineId: machine.id,
        createdAt: new Date(),
        expiresAt: new Date(),
      },
    })
    await db.prisma.session.create({
      data: {
        id: machine.id,
        tokenHash: machine.id,
        memberId: dev,
        orgId: org.id,
        method: 'device_link',
        parentToken: token.id,
        authnAt: new Date(),
        expiresAt: new Date(),
        createdAt: new Date(),
      },
    })
    const colleague = await makeMember(db.prisma, org, 'lead', 'Lea')
    const by = (id: string, role: 'lead' | 'member', method: 'oidc' | 'device_link') =>
      revokeMachine(contextOf(db.prisma, actorOf(org, id, role, method)), { id: machine.id })
    await expect(by(colleague, 'lead', 'oidc')).rejects.toMatchObject({ code: 'FORBIDDEN' })
    await expect(by(dev, 'member', 'device_link')).rejects.toMatchObject({ code: 'FORBIDDEN' })
    await by(dev, 'member', 'oidc')
    await revokeMachine(owner(), { id: machine.id })
    expect(await kinds()).toEqual(['machine.revoked'])
    expect(await stateIn(handle)).toBe('withdrawn')
    expect(await live()).toBe(0)
    expect(await db.prisma.session.count({ where: { orgId: org.id } })).toBe(0)
    expect((await getMachine(owner(), { id: machine.id })).state).toBe('revoked')
  })
})

it.each([
  ['leaves by itself', 'machine', 'left', () => leave(contextOf(db.prisma, machine.actor))],
  ['is revoked by an admin', 'admin', 'revoked', () => revokeMachine(owner(), { id: machine.id })],
  [
    'is revoked by its member',
    'member',
    'revoked',
    () => revokeMachine(contextOf(db.prisma, actorOf(org, dev, 'member')), { id: machine.id }),
  ],
  [
    'is on a laptop that an admin reported lost',
    'admin',
    'laptop_lost',
    () => reportLaptopLost(owner(), { memberId: dev }),
  ],
] as const)('what a machine asked for that %s was ended by: %s', async (_, by, why, end) => {
  const handle = await waiting()
  await end()
  expect(await getApproval(owner(), { handle })).toMatchObject({
    state: 'withdrawn',
    ended: { by, why },
  })
})

it('states of a machine, the gravest first', () => {
  const now = new Date('2030-01-01T12:00:00Z')
  const ago = (minutes: number) => new Date(now.getTime() - minutes * 60_000)
  const newest = { version: 2, digest: 'd2' }
  const fine = {
    leftAt: null,
    revokedAt: null,
    clonedAt: null,
    joinedAt: ago(9999),
    lastSeenAt: ago(1),
    rulesVersion: 2,
    rulesDigest: 'd2',
  }
  const state = (over: Partial<typeof fine> | Record<string, unknown>, alarmed = false) =>
    stateOf({ ...fine, ...over } as never, newest, alarmed, now)
  expect(state({})).toBe('current')
  expect(state({ rulesVersion: 1, rulesDigest: 'd1' })).toBe('behind')
  expect(state({ rulesDigest: 'other' })).toBe('behind')
  expect(state({ lastSeenAt: ago(16) })).toBe('silent')
  expect(state({ lastSeenAt: null, joinedAt: ago(1) })).toBe('current')
  expect(state({ clonedAt: ago(60) })).toBe('alarm')
  expect(state({ clonedAt: ago(60 * 24 * 8) })).toBe('current')
  expect(state({ lastSeenAt: ago(99) }, true)).toBe('alarm')
  expect(state({ leftAt: ago(1) }, true)).toBe('left')
  expect(state({ leftAt: ago(1), revokedAt: ago(1) }, true)).toBe('revoked')
})

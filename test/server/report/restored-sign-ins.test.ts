import { beforeAll, beforeEach, expect, it } from 'vitest'
import type { Role } from '#core/role.ts'
import { actorFromAdminToken } from '#server/auth/admin-token.ts'
import { machineActor } from '#server/auth/machine-token.ts'
import { confirmAdminLogin, pollAdminLogin, startAdminLogin } from '#server/features/credential.ts'
import { makeJoinLine } from '#server/features/join-line.ts'
import { makeDeviceLink, redeemOneTime } from '#server/features/one-time-sign-in.ts'
import { noticeRestore } from '#server/features/restore.ts'
import { useDatabase } from '#test/support/db.ts'
import {
  actorOf,
  contextOf,
  makeMachine,
  makeMember,
  makeOrganisation,
  serverEnvironment,
  type TestMachine,
  type TestOrganisation,
} from '#test/support/makers.ts'

/** A restored copy may hold what was ended after it was made: nobody acts through anything from before. */
const db = useDatabase()
let org: TestOrganisation
let admin: string
let machine: TestMachine
beforeAll(serverEnvironment)
beforeEach(async () => {
  org = await makeOrganisation(db.prisma)
  admin = await makeMember(db.prisma, org, 'admin')
  machine = await makeMachine(db.prisma, org, admin)
})
const as = (id: string, role: Role) => contextOf(db.prisma, actorOf(org, id, role, 'email_code'))
const notice = () => noticeRestore(contextOf(db.prisma, machine.actor), { version: 7, digest: 'x' })

async function confirmed(): Promise<string> {
  const login = await startAdminLogin(as(admin, 'admin'), { org: org.slug, label: 'laptop' })
  await confirmAdminLogin(as(admin, 'admin'), { userCode: login.userCode, allow: true })
  return login.deviceCode
}

it('a credential of the command ends, and a login that was confirmed before gives none', async () => {
  const poll = await pollAdminLogin(as(admin, 'admin'), { deviceCode: await confirmed() })
  const token = poll.state === 'issued' ? poll.token : ''
  const who = () => actorFromAdminToken(db.prisma, `Bearer ${token}`, new Date())
  expect(await who()).toMatchObject({ memberId: admin })
  const deviceCode = await confirmed()
  await notice()
  expect(await who()).toBeNull()
  expect(await pollAdminLogin(as(admin, 'admin'), { deviceCode })).toEqual({ state: 'denied' })
})

it('links and join lines open nothing; machines go on', async () => {
  const { url } = await makeDeviceLink(contextOf(db.prisma, machine.actor))
  await makeJoinLine(as(admin, 'admin'), {})
  await notice()
  const token = new URL(url).searchParams.get('t')!
  await expect(redeemOneTime(as(admin, 'admin'), { token, kind: 'deviceLink' })).rejects.toMatchObject({
    code: 'EXPIRED',
  })
  expect(await db.prisma.token.count({ where: { orgId: org.id, kind: 'join', revokedAt: null } })).toBe(0)
  expect(await machineActor(db.prisma, machine.token, new Date())).toMatchObject({ machineId: machine.id })
})

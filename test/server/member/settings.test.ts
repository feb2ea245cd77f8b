import { beforeAll, beforeEach, expect, it } from 'vitest'
import { inviteMember } from '#server/features/invitation.ts'
import { getSettings, updateSettings } from '#server/features/settings.ts'
import { startSignIn } from '#server/features/sign-in.ts'
import { useDatabase } from '#test/support/db.ts'
import {
  actorOf,
  contextOf,
  makeMember,
  makeOrganisation,
  serverEnvironment,
  type TestOrganisation,
} from '#test/support/makers.ts'

const db = useDatabase()
let org: TestOrganisation
let n = 0
beforeAll(() => {
  delete process.env.SMTP_URL
  serverEnvironment()
})
beforeEach(async () => {
  org = await makeOrganisation(db.prisma, `org${++n}`)
})
const owner = () => contextOf(db.prisma, actorOf(org, org.ownerId, 'owner', 'email_code'))
const changes = async () =>
  (
    await db.prisma.evidenceEntry.findMany({
      where: { orgId: org.id, kind: 'organisation.setting_changed' },
      orderBy: { seq: 'asc' },
    })
  ).map(row => (JSON.parse(Buffer.from(row.bytes).toString()) as { data: unknown }).data)

it('a change is recorded with old and new; the name only as changed, and what stays the same not at all', async () => {
  await updateSettings(owner(), { name: ' Acme\r\nInc ', selfAnswer: 'never', whenBroken: 'pass', maxAgeS: 3600 })
  expect(await getSettings(owner())).toMatchObject({
    name: 'Acme Inc',
    selfAnswer: 'never',
    whenBroken: 'pass',
    maxAgeS: 3600,
  })
  expect(await changes()).toEqual([
    { setting: 'name' },
    { setting: 'selfAnswer', from: 'account', to: 'never' },
    { setting: 'maxAgeS', from: 86400, to: 3600 },
  ])
})

it('a bad value or a role below admin changes nothing', async () => {
  for (const maxAgeS of [59, 30 * 24 * 3600 + 1, 90.5])
    await expect(updateSettings(owner(), { maxAgeS })).rejects.toMatchObject({ code: 'BAD_INPUT' })
  await expect(updateSettings(owner(), { name: ' \u202e ' })).rejects.toMatchObject({ code: 'BAD_INPUT' })
  const lead = await makeMember(db.prisma, org, 'lead')
  await expect(
    updateSettings(contextOf(db.prisma, actorOf(org, lead, 'lead')), { selfAnswer: 'never' }),
  ).rejects.toMatchObject({ code: 'FORBIDDEN' })
  expect(await changes()).toEqual([])
})

it('shows every key’s public half and the root, and no private one', async () => {
  const settings = await getSettings(owner())
  expect(settings.keys.map(key => key.role).sort()).toEqual([
    'answer',
    'fresh',
    'ledger',
    'owner',
    'owner',
    'registry',
    'ruleset',
  ])
  expect(settings.root).toMatchObject({ seq: 1, custody: 'server' })
  expect(settings.mail).toMatchObject({ configured: false, waiting: 0, stuck: 0 })
  expect(JSON.stringify(settings)).not.toContain('sealed')
})

it('counts the mail of its own organisation, and codes for its own people', async () => {
  const other = await makeOrganisation(db.prisma, `other${n}`)
  const invite = (of: TestOrganisation, email: string) =>
    inviteMember(contextOf(db.prisma, actorOf(of, of.ownerId, 'owner')), { email, name: 'New', role: 'member' })
  const code = (email: string) =>
    startSignIn(contextOf(db.prisma, actorOf(org, org.ownerId, 'owner')), { email, nonce: 'n', demo: false })
  await invite(org, 'one@new.test')
  await invite(other, 'two@new.test')
  await invite(other, 'three@new.test')
  await code(`owner@${org.slug}.test`)
  await code(`owner@${other.slug}.test`)
  await code('nobody@elsewhere.test')
  const mailOf = async (of: TestOrganisation) =>
    (await getSettings(contextOf(db.prisma, actorOf(of, of.ownerId, 'owner')))).mail
  expect(await mailOf(org)).toMatchObject({ waiting: 2, stuck: 0 })
  expect(await mailOf(other)).toMatchObject({ waiting: 3, stuck: 0 })
  // What is tried too often is stuck where it belongs.
  await db.prisma.$queryRaw`
    select id::text from graphile_worker.permanently_fail_jobs(array(select id from graphile_worker.jobs where flags ? ${`mail of ${other.id}`}))`
  expect(await mailOf(org)).toMatchObject({ waiting: 2, stuck: 0 })
  expect(await mailOf(other)).toMatchObject({ waiting: 1, stuck: 2 })
})

import { beforeAll, expect, it } from 'vitest'
import { getHealth } from '#server/api/health.ts'
import { openDatabase } from '#server/db.ts'
import { isHealthy } from '#server/features/health.ts'
import { ask, doors, refusal, reportOf, signReport } from '../../support/connector.ts'
import { useDatabase } from '../../support/db.ts'
import {
  costRule,
  makeMachine,
  makeOrganisation,
  publish,
  type TestMachine,
  type TestOrganisation,
} from '../../support/makers.ts'

/** The database ends every connection, as a restart does, while machines poll, wait and report. */
const db = useDatabase()
let org: TestOrganisation
let machine: TestMachine

beforeAll(async () => {
  org = await makeOrganisation(db.prisma)
  machine = await makeMachine(db.prisma, org, org.ownerId)
  await publish(db.prisma, org, costRule('lead'))
})

const rules = () => ask(doors.getRules, { token: machine.token })
const endConnections = () =>
  db.admin.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and usename <> current_user and pid <> pg_backend_pid()`,
  )

it('machines that wait hear of what was published in the gap, and polls go on', async () => {
  const etag = (await rules()).headers.get('etag')!
  const waiting = Array.from({ length: 50 }, () =>
    ask(doors.getWait, { token: machine.token, query: `?rules=${encodeURIComponent(etag)}&answers=0` }),
  )
  await endConnections()
  const again = async () => publish(db.prisma, org, costRule('lead', '    note: in the gap\n'))
  const { version } = await again().catch(again)
  for (const response of await Promise.all(waiting)) {
    if (response.status === 200) expect(await response.json()).toMatchObject({ rules: true })
    else expect(await refusal(response)).toEqual({ status: 503, code: 'UNAVAILABLE' })
  }
  await expect.poll(async () => (await rules()).headers.get('etag')?.startsWith(`"${version}.`)).toBe(true)
}, 30_000)

it('reports under repeated loss are each taken once and none is lost, when they are sent until they are answered', async () => {
  const fleet = await Promise.all(
    Array.from({ length: 20 }, (_, i) => makeMachine(db.prisma, org, org.ownerId, `m${i}`)),
  )
  let ending = true
  const ender = (async () => {
    for (let i = 0; i < 6; i++) {
      await endConnections()
      await db.admin.query('select pg_sleep(0.05)')
    }
    ending = false
  })()
  const hour = new Date().toISOString()
  const refused: number[] = []
  await Promise.all(
    fleet.map(async of => {
      for (let seq = 1; seq <= 4; seq++) {
        const report = signReport(
          of,
          reportOf(of, seq, {
            counts: [
              { hour, client: 'claude-code', action: 'continue', sessionRef: 'B'.repeat(43), calls: 1, figures: [] },
            ],
          }),
        )
        for (;;) {
          const response = await ask(doors.postReport, { method: 'POST', token: of.token, body: { report } })
          if (response.status === 200) break
          refused.push(response.status)
        }
      }
    }),
  )
  await ender
  expect(ending).toBe(false)
  expect(new Set(refused.filter(status => status !== 503))).toEqual(new Set())
  const counts = await db.prisma.hourlyCount.findMany({ where: { orgId: org.id } })
  expect(counts.map(row => row.calls)).toEqual(Array(20).fill(4))
}, 60_000)

it('health says whether the database answers, in time', async () => {
  expect((await getHealth()).status).toBe(200)
  const { prisma, pool } = openDatabase('postgres://nobody@127.0.0.1:1/nothing', 1)
  expect(await isHealthy({ db: prisma }, 3000)).toBe(false)
  await pool.end()
  const blocked = openDatabase(db.url, 1)
  const held = await blocked.pool.connect()
  expect(await isHealthy({ db: blocked.prisma }, 50)).toBe(false)
  held.release()
  await blocked.pool.end()
})

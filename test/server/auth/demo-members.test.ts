import { beforeAll, describe, expect, it } from 'vitest'
import { appRouter } from '#server/api/root.ts'
import { createCallerFactory } from '#server/api/trpc.ts'
import { database } from '#server/db.ts'
import { useDatabase } from '#test/support/db.ts'
import { makeMember, makeOrganisation, serverEnvironment } from '#test/support/makers.ts'

const db = useDatabase()
const caller = (mayReadDemoMail?: boolean) =>
  createCallerFactory(appRouter)({ actor: null, ...(mayReadDemoMail === undefined ? {} : { mayReadDemoMail }) }).session

beforeAll(async () => {
  serverEnvironment()
  const real = await makeOrganisation(db.prisma, 'real')
  await makeMember(db.prisma, real, 'admin', 'Rea Real')
  const demo = await makeOrganisation(db.prisma, 'shown')
  await db.prisma.organisation.update({ where: { id: demo.id }, data: { demo: true } })
  await makeMember(db.prisma, demo, 'lead', 'Lena Lead')
  const gone = await makeMember(db.prisma, demo, 'admin', 'Gus Gone')
  await db.prisma.member.update({ where: { id: gone }, data: { removedAt: new Date() } })
  return async () => {
    await database().prisma.$disconnect()
    await database().pool.end()
  }
})

describe('whom one can sign in as in the demo organisation', () => {
  it.each([[undefined], [false]])(
    'is not there for a request that may not see the demo mailbox (%s)',
    async allowed => {
      await expect(caller(allowed).demoMembers({})).rejects.toMatchObject({ code: 'NOT_FOUND' })
    },
  )

  it('is its members of now, the highest role first, and nobody of another organisation', async () => {
    const names = (await caller(true).demoMembers({})).map(({ name, role }) => `${name}, ${role}`)
    expect(names).toHaveLength(2)
    expect(names[0]).toMatch(/, owner$/)
    expect(names[1]).toBe('Lena Lead, lead')
    expect(await caller(true).demoMembers({ org: 'shown' })).toHaveLength(2)
  })

  it('is nobody where the page to open is of another organisation', async () => {
    expect(await caller(true).demoMembers({ org: 'real' })).toEqual([])
    expect(await caller(true).demoMembers({ org: 'nowhere' })).toEqual([])
  })
})

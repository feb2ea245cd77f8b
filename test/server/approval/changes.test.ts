import { afterEach, beforeAll, expect, it } from 'vitest'
import type { MemberActor } from '#core/actor.ts'
import { bus } from '#server/bus.ts'
import { answerApproval } from '#server/features/approval/answer.ts'
import { approvalChanges, readPosition } from '#server/features/approval/changes.ts'
import { fileRequest } from '#server/features/approval/file-request.ts'
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
  serverEnvironment,
  type TestMachine,
} from '../../support/makers.ts'

const db = useDatabase()
let lead: MemberActor
let machine: TestMachine
let stop = new AbortController()

beforeAll(async () => {
  serverEnvironment()
  const org = await makeOrganisation(db.prisma)
  lead = actorOf(org, await makeMember(db.prisma, org, 'lead', 'Lea'), 'lead')
  machine = await makeMachine(db.prisma, org, await makeMember(db.prisma, org, 'member', 'Dana'))
  await publish(db.prisma, org, costRule('lead'))
  await new Promise(resolve => bus().once('reconnected', resolve))
})
afterEach(() => {
  stop.abort()
  stop = new AbortController()
})

const ctx = () => contextOf(db.prisma, lead)
const file = async () =>
  fileRequest(contextOf(db.prisma, machine.actor), {
    request: machine.sign('holdpoint-request+jws', await makeRequest(db.prisma, machine)),
  })
const open = (seen: number) => approvalChanges(ctx(), seen, stop.signal)

it('who has seen all is told first that nothing was missed, then of each filing and answer', async () => {
  const seen = await readPosition(ctx())
  const changes = open(seen)
  expect((await changes.next()).value).toEqual({ position: seen, missed: false })
  const { handle } = await file()
  expect((await changes.next()).value).toEqual({ position: seen + 1, missed: true })
  await answerApproval(ctx(), { handle, decision: 'deny', scope: 'step', reason: '' })
  expect((await changes.next()).value).toEqual({ position: seen + 2, missed: true })
})

it('what was filed between reading the page and opening the line is told at once', async () => {
  const seen = await readPosition(ctx())
  await file()
  expect((await open(seen).next()).value).toEqual({ position: seen + 1, missed: true })
})

it('what is filed while the line is being opened is told', async () => {
  for (let i = 0; i < 20; i++) {
    const seen = await readPosition(ctx())
    const changes = open(seen)
    const [first] = await Promise.all([changes.next(), file()])
    if (!first.value?.missed) expect((await changes.next()).value).toEqual({ position: seen + 1, missed: true })
    await changes.return(undefined)
  }
})

it('a line that is closed leaves nobody listening', async () => {
  const before = bus().listenerCount('signal')
  const changes = open(0)
  await changes.next()
  expect(bus().listenerCount('signal')).toBe(before + 1)
  const waiting = changes.next()
  stop.abort()
  expect((await waiting).done).toBe(true)
  expect(bus().listenerCount('signal')).toBe(before)
})

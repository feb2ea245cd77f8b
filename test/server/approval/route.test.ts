import { beforeAll, expect, it } from 'vitest'
import { openAnswer } from '#core/approval/answer.ts'
import { questionOf } from '#core/approval/describe.ts'
import { parseBoundaries } from '#core/boundary/parse.ts'
import { approvalRequestedMail } from '#server/email/approval-requested.ts'
import { approvalSettledMail } from '#server/email/approval-settled.ts'
import { answerApproval } from '#server/features/approval/answer.ts'
import { fileRequest } from '#server/features/approval/file-request.ts'
import { answersAfter } from '#server/features/approval/machine.ts'
import { getApproval } from '#server/features/approval/read.ts'
import { rootChain } from '#server/features/root.ts'
import { crypto } from '#server/keys/crypto.ts'
import { useDatabase } from '../../support/db.ts'
import {
  actorOf,
  contextOf,
  makeMachine,
  makeMember,
  makeOrganisation,
  makeRequest,
  publish,
  type TestMachine,
  type TestOrganisation,
} from '../../support/makers.ts'

const db = useDatabase()
const RULE = `boundaries:
  - { name: no-routes, action: model_route, when: { model_tier: ">= opus" }, require: "approver:lead", stage: enforce }
tests:
  - { action: model_route, figures: { model_tier: opus }, expect: "approver:lead" }
  - { action: model_route, figures: { model_tier: haiku }, expect: pass }
`
let org: TestOrganisation
let machine: TestMachine
let lead: string

beforeAll(async () => {
  expect(parseBoundaries(RULE, { scope: 'organisation' }).errors).toEqual([])
  org = await makeOrganisation(db.prisma)
  lead = await makeMember(db.prisma, org, 'lead', 'Lea')
  machine = await makeMachine(db.prisma, org, await makeMember(db.prisma, org, 'member', 'Dana'))
  await publish(db.prisma, org, RULE)
})

const route = (to = 'claude-opus-4-6') =>
  ({ kind: 'route', provider: 'anthropic', from: 'claude-opus-4-1', to }) as const
const file = async (subject = route()) => {
  const request = await makeRequest(db.prisma, machine, {
    subject,
    action: 'model_route',
    figures: [{ name: 'model_tier', value: 'opus', unit: 'tier', observedAt: new Date().toISOString() }],
  })
  const answer = await fileRequest(contextOf(db.prisma, machine.actor), {
    request: machine.sign('holdpoint-request+jws', request),
  })
  return { request, answer }
}

it('a route has one open request, whichever session asks, also when eight ask at once; another route has its own', async () => {
  const filed = await Promise.all(Array.from({ length: 8 }, () => file()))
  expect(new Set(filed.map(({ answer }) => answer.handle)).size).toBe(1)
  expect((await file(route('claude-opus-4-5'))).answer.handle).not.toBe(filed[0]!.answer.handle)
  const open = await db.prisma.approvalRequest.count({ where: { machineId: machine.id, state: 'pending' } })
  expect(open).toBe(2)
})

it('says what is asked in its own words, and its answer comes signed to the machine', async () => {
  const { answer } = await file(route('claude-opus-4-5'))
  const context = contextOf(db.prisma, actorOf(org, lead, 'lead'))
  const detail = await getApproval(context, { handle: answer.handle })
  expect(detail.subject).toEqual(route('claude-opus-4-5'))
  expect(questionOf(detail, 'Dana')).toBe(
    'The router would move a request of Dana from claude-opus-4-1 to claude-opus-4-5. Let it?',
  )
  await answerApproval(context, { handle: answer.handle, decision: 'approve', scope: 'session', reason: '' })
  const { answers } = await answersAfter(contextOf(db.prisma, machine.actor), { after: 0 })
  const root = (await db.prisma.$transaction(tx => rootChain(tx, org.id))).at(-1)!
  const opened = answers.map(({ jws }) => openAnswer(jws, root.root, crypto))
  expect(opened.find(({ handle }) => handle === answer.handle)).toMatchObject({ decision: 'approve', scope: 'session' })
  // it has ended: the next request on this route asks anew
  expect((await file(route('claude-opus-4-5'))).answer.handle).not.toBe(answer.handle)
})

it('is mailed as what it is: nobody was stopped, and what an answer covers is a request or a day', () => {
  const data = {
    account: 'lea@acme.example',
    org: 'Acme',
    handle: 'bnd-000000000001',
    rules: ['no-routes'],
    client: 'Codex',
    machine: 'laptop',
    url: 'https://holdpoint.example/acme/approvals/bnd-000000000001',
    about: 'route',
  } as const
  const asked = approvalRequestedMail({
    ...data,
    question: 'Let it?',
    action: 'model_route',
    requester: 'Dana',
    role: 'lead',
    approvals: 1,
    figures: [],
    expires: 'soon',
    own: false,
  })
  expect(asked.subject).toBe('[Acme] no-routes: a route waits for an answer (bnd-000000000001)')
  expect(asked.text).toContain('A request of Dana (Codex on laptop) would have been moved to another model.')
  expect(asked.text).not.toContain('waits for an answer.')
  const settled = approvalSettledMail({ ...data, state: 'approved', scope: 'session', until: [], answeredBy: [] })
  expect(settled.text).toMatch(/Covers:?\s+a day/)
  expect(settled.text).toContain('The next request on this route is moved.')
})

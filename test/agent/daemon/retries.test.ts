import { beforeEach, expect, test } from 'vitest'
import { renderClaude } from '#agent/clients/claude/render.ts'
import { Machine } from './world.ts'

let machine: Machine
let calls: number
beforeEach(async () => {
  machine = new Machine()
  calls = 0
  machine.config(
    `boundaries:
  - { name: cost, action: continue, when: { session_cost_usd: ">= 20" }, require: ask, stage: enforce }
  - { name: more, action: continue, when: { session_cost_usd: ">= 30" }, require: deny, stage: enforce }
`,
  )
  await machine.start()
  machine.spend(21)
})
/** A call after a model's answer, or together with the one before. */
const call = async (laterMs = 2000) => {
  machine.offset += laterMs
  const { json } = await machine.hook({ tool_use_id: `toolu_${++calls}` })
  return {
    decision: json?.hookSpecificOutput?.permissionDecision,
    text: json?.hookSpecificOutput?.permissionDecisionReason ?? '',
    ends: json?.continue === false,
  }
}

test('a run that only retries is told so plainly, then its turn ends; each call of it is refused', async () => {
  const told = []
  for (let i = 0; i < 7; i++) told.push(await call())
  expect(told.map(({ decision }) => decision)).toEqual(Array(7).fill('deny'))
  expect(told.map(({ text }) => /This is try (\d)/.exec(text)?.[1])).toEqual([
    undefined,
    undefined,
    '3',
    '4',
    '5',
    '6',
    '7',
  ])
  expect(told.map(({ ends }) => ends)).toEqual([false, false, false, false, false, true, true])
})

test('many calls of one response are one try', async () => {
  await call()
  for (let i = 0; i < 8; i++) expect((await call(10)).text).not.toContain('in a row')
})

test('a person’s word, another boundary, or a call that went on begins the count anew', async () => {
  const untilTold = async () => {
    for (let i = 0; i < 2; i++) expect((await call()).text).not.toContain('in a row')
    expect((await call()).text).toContain('This is try 3 in a row')
  }
  await untilTold()
  await machine.hook({ hook_event_name: 'UserPromptSubmit', prompt: 'go on' })
  await untilTold()
  machine.spend(10)
  await untilTold()
  machine.config('boundaries: []')
  expect((await call()).decision).toBeUndefined()
  machine.config(
    'boundaries: [{ name: more, action: continue, when: { session_cost_usd: ">= 30" }, require: deny, stage: enforce }]',
  )
  await untilTold()
})

test('the turn ends beside a refusal only: an answer that ends it alone would let the call run', () => {
  const event = { kind: 'tool_call' } as Parameters<typeof renderClaude>[1]
  const bodyOf = (outcome: 'pass' | 'ask' | 'refuse') =>
    renderClaude({ outcome, text: 'x', endTurn: true }, event).http.body
  expect(JSON.parse(bodyOf('refuse'))).toMatchObject({
    continue: false,
    hookSpecificOutput: { permissionDecision: 'deny' },
  })
  expect(JSON.parse(bodyOf('ask'))).not.toHaveProperty('continue')
  expect(bodyOf('pass')).toBe('')
  expect(renderClaude({ outcome: 'refuse', text: 'x', endTurn: true }, event).command).toMatchObject({
    exit: 2,
    stdout: '',
  })
})

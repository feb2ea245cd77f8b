/** The table of outcomes and faults, held against opencode's module: what comes of a call at which it heard so. */
import { mkdirSync, rmSync } from 'node:fs'
import { createServer, type Server, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Decision } from '#agent/clients/adapter.ts'
import type { WhenBroken } from '#agent/clients/hook-editor.ts'
import { opencode } from '#agent/clients/opencode/opencode.ts'
import { socketPlace } from '#agent/hook/socket-place.ts'
import { PluginPlace } from '#test/agent/opencode/installed-plugin.ts'
import { type Effect, FAULTS, type Fault, OUTCOMES } from './conformance.ts'

type Answer = (response: ServerResponse, told: object) => void

let place: PluginPlace
let server: Server | undefined
beforeEach(() => {
  place = new PluginPlace()
})
afterEach(async () => {
  server?.closeAllConnections()
  await new Promise<void>(resolve => (server ? server.close(() => resolve()) : resolve()))
  server = undefined
  place.remove()
})

/** What stands for the daemon: it reads an event and answers it with the adapter's own words. */
async function daemon(decision: Decision, answer?: Answer): Promise<void> {
  server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', chunk => chunks.push(chunk as Buffer))
    request.on('end', () => {
      const event = opencode.parse(Buffer.concat(chunks), Date.now())
      const isBroken = event.kind === 'parse_failure'
      const told = isBroken ? opencode.renderBroken(event.reason) : opencode.render(decision, event)
      if (answer) answer(response, told.command)
      else response.writeHead(told.http.status).end(JSON.stringify(told.command))
    })
  })
  const { folder, path } = socketPlace(place.home)!
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  await new Promise<void>(resolve => server!.listen(path, resolve))
}

type Call = { tool?: string; sessionID: string; callID: string }
const CALL: Call = { tool: 'bash', sessionID: 'ses_1', callID: 'call_1' }
async function effectOf(whenBroken: WhenBroken, input: Call = CALL): Promise<Effect> {
  const hooks = await (await place.load(whenBroken)).server({ directory: '/p' })
  try {
    await hooks['tool.execute.before'](input as Call & { tool: string }, { args: { command: 'true' } })
    return 'runs'
  } catch (error) {
    expect((error as Error).message.trim()).not.toBe('')
    return 'refused'
  }
}

const PASS: Decision = { outcome: 'pass', text: '' }
const WORDS = 'session-spend: this session has cost $21.00. Stop here and tell the user.'

test.each(OUTCOMES)('$outcome', async ({ effect, ...decided }) => {
  await daemon({ text: decided.outcome === 'pass' ? '' : WORDS, ...decided })
  expect(await effectOf('pass')).toBe(effect === 'asks' ? 'refused' : effect)
})

/** What the module itself writes cannot be too large, no JSON or of another kind of text. */
const CANNOT_BE: readonly Fault[] = [
  'the input is larger than allowed',
  'the input is not UTF-8',
  'the input is no JSON',
  'the input has fields that nobody knows',
]
/** Its own program only starts the daemon: a call is judged without. */
const isJudgedHere = (fault: Fault, isJudged: boolean) => isJudged || fault === 'our program is gone'

test.each(FAULTS.filter(({ fault }) => !CANNOT_BE.includes(fault)))(
  '$fault: the call runs, or is refused where the module was installed to block',
  async ({ fault, isJudged }) => {
    const answers: Partial<Record<Fault, Answer>> = {
      'the daemon does not answer in time': () => {},
      'the daemon answers nothing': response => response.end(),
      'the daemon answers no JSON': response => response.end('<html>'),
      'the daemon’s answer lacks a field': response => response.end('{"exit":0}'),
      'the daemon’s answer has a field more': (response, told) => response.end(JSON.stringify({ ...told, more: 1 })),
      'the daemon says that its side failed': response =>
        response.writeHead(500).end(JSON.stringify(opencode.renderBroken('the decision took too long').command)),
    }
    if (fault !== 'the daemon is away') await daemon(PASS, answers[fault])
    if (fault === 'our program is gone') rmSync(join(place.home, 'bin/hook.cjs'))
    const input = fault === 'the input lacks a field' ? { ...CALL, tool: undefined } : CALL
    expect(await effectOf('pass', input as Call), 'pass').toBe('runs')
    expect(await effectOf('block', input as Call), 'block').toBe(isJudgedHere(fault, isJudged) ? 'runs' : 'refused')
  },
)

test('two at once across a boundary are both refused', async () => {
  await daemon({ outcome: 'refuse', text: WORDS })
  const two = [CALL, { ...CALL, callID: 'call_2' }]
  expect(await Promise.all(two.map(input => effectOf('pass', input)))).toEqual(['refused', 'refused'])
})

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import type { ClientAdapter, Decision } from '#agent/clients/adapter.ts'
import type { ClientHome } from '#agent/clients/client-home.ts'
import type { HookInstall, HookProbe, WhenBroken } from '#agent/clients/hook-editor.ts'
import { ADAPTERS } from '#agent/clients/sources.ts'
import { socketPlace } from '#agent/hook/socket-place.ts'
import type { Client } from '#core/client.ts'
import { HOOK_BODY_MAX } from '#core/limits.ts'
import { exactly } from './bench.ts'
import {
  CALLS,
  CASES,
  CLAUDE_BLOCKING,
  type Effect,
  type Ending,
  endingOf,
  FAULTS,
  type Fault,
  MEASURED,
  OUTCOMES,
  RECORDED,
} from './conformance.ts'

// each starts a program or two, which takes a moment alone and far longer beside a build
vi.setConfig({ testTimeout: 60_000 })

let code: string
beforeAll(async () => {
  const entry = join(import.meta.dirname, '../../agent/hook/main.ts')
  const options = { bundle: true, platform: 'node', format: 'cjs', target: 'node20', write: false } as const
  code = (await build({ entryPoints: [entry], ...options })).outputFiles[0]!.text
})

let folder: string
let root: string
let server: Server | undefined
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'conformance-'))
  root = join(folder, '.holdpoint')
  mkdirSync(join(root, 'bin'), { recursive: true })
  writeFileSync(join(root, 'bin/hook.cjs'), code)
  // what would be started in a daemon's place
  writeFileSync(join(root, 'bin/holdpoint.cjs'), '')
})
afterEach(async () => {
  server?.closeAllConnections()
  await new Promise<void>(resolve => (server ? server.close(() => resolve()) : resolve()))
  server = undefined
  rmSync(folder, { recursive: true, force: true })
})

type Answer = (response: ServerResponse, told: object) => void

/** What stands for the daemon: it reads an event and answers it with the adapter's own words. */
async function daemon(adapter: ClientAdapter, decision: Decision, answer?: Answer): Promise<void> {
  server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', chunk => chunks.push(chunk as Buffer))
    request.on('end', () => {
      const event = adapter.parse(Buffer.concat(chunks), Date.now(), adapter.originFromHeaders(request.headers))
      const isBroken = event.kind === 'parse_failure'
      const told = isBroken ? adapter.renderBroken(event.reason) : adapter.render(decision, event)
      if (answer) answer(response, told.command)
      else response.writeHead(told.http.status).end(JSON.stringify(told.command))
    })
  })
  const place = socketPlace(root)!
  mkdirSync(place.folder, { recursive: true, mode: 0o700 })
  await new Promise<void>(resolve => server!.listen(place.path, resolve))
}

const home = (): ClientHome => ({ homeDir: folder, env: {} })

/** The hook that an install leaves. */
function hookOf(adapter: ClientAdapter, whenBroken: WhenBroken): Extract<HookProbe, { form: 'command' }> {
  const request: HookInstall = {
    form: 'command',
    hookUrl: `http://127.0.0.1:9${adapter.hookPath}`,
    hookToken: 'token',
    hookCommand: { exe: process.execPath, args: [join(root, 'bin/hook.cjs')] },
    whenBroken,
  }
  adapter.hooks.install(home(), request, { dryRun: false })
  const probe = adapter.hooks.probe(home())
  if (probe?.form !== 'command') throw new Error(`no command hook of ${adapter.title}`)
  return probe
}

/** Runs the hook as the client starts it, and says what the client then does. */
function effectOf(adapter: ClientAdapter, whenBroken: WhenBroken, input: Uint8Array | string): Promise<Effect> {
  const { run, env } = hookOf(adapter, whenBroken)
  const options = { env: exactly({ PATH: process.env.PATH ?? '', HOME: folder, ...env }) }
  const child = 'shell' in run ? spawn(run.shell, { ...options, shell: true }) : spawn(run.exe, run.args, options)
  const isClaudeBlocking = adapter.client === 'claude-code' && whenBroken === 'block'
  const row = isClaudeBlocking ? CLAUDE_BLOCKING : MEASURED[adapter.client as Client]
  return finish(child, input).then(ended => row[endingOf(ended)])
}

async function finish(child: ChildProcess, input: Uint8Array | string) {
  const said = { stdout: '', stderr: '' }
  child.stdout!.on('data', chunk => {
    said.stdout += chunk
  })
  child.stderr!.on('data', chunk => {
    said.stderr += chunk
  })
  child.stdin!.on('error', () => {})
  child.stdin!.end(input)
  const exit = await new Promise<number | null>(resolve => child.on('close', resolve))
  return { exit, ...said }
}

const bodyOf = ({ client }: ClientAdapter, more: object = {}) =>
  JSON.stringify({ ...CALLS[client as Client].body, ...more })

test.each(Object.entries(RECORDED))('what %s does with an ending is what was seen of it', (_, sources) => {
  for (const { file, row, named } of sources) {
    const path = join(import.meta.dirname, 'payloads', file)
    const seen = JSON.parse(readFileSync(path, 'utf8')) as { case: string; tool_ran: string | null }[]
    const known = Object.entries(CASES).map(([ending, names]) => {
      const cases = seen.filter(one => names.flatMap(named).includes(one.case))
      for (const one of cases) expect(one.tool_ran === null ? 'refused' : 'runs', one.case).toBe(row[ending as Ending])
      return cases.length
    })
    expect(known.filter(count => count === 0).length, file).toBeLessThanOrEqual(3)
  }
})

const PASS: Decision = { outcome: 'pass', text: '' }
const WORDS = 'session-spend: this session has cost $21.00. Stop here and tell the user.'
const byCommand = ADAPTERS.filter(({ forms }) => forms.includes('command'))

/** Sets a fault up around a call that would pass; what the client then sends. */
async function cause(fault: Fault, adapter: ClientAdapter): Promise<Uint8Array | string> {
  const answers: Partial<Record<Fault, Answer>> = {
    'the daemon does not answer in time': () => {},
    'the daemon answers nothing': response => response.end(),
    'the daemon answers no JSON': response => response.end('<html>'),
    'the daemon’s answer lacks a field': response => response.end('{"exit":0}'),
    'the daemon’s answer has a field more': (response, told) => response.end(JSON.stringify({ ...told, more: 1 })),
    'the daemon says that its side failed': response =>
      response.writeHead(500).end(JSON.stringify(adapter.renderBroken('the decision took too long').command)),
  }
  if (fault !== 'the daemon is away') await daemon(adapter, PASS, answers[fault])
  if (fault === 'our program is gone') rmSync(join(root, 'bin/hook.cjs'))
  switch (fault) {
    case 'the input lacks a field':
      return bodyOf(adapter, { session_id: undefined, sessionId: undefined, conversation_id: undefined })
    case 'the input has fields that nobody knows':
      return bodyOf(adapter, { of_a_newer_version: { deep: [1, null] } })
    case 'the input is larger than allowed':
      return bodyOf(adapter, { filler: 'x'.repeat(HOOK_BODY_MAX) })
    case 'the input is not UTF-8':
      return Buffer.from(bodyOf(adapter, { filler: '\u00ff' }), 'latin1')
    case 'the input is no JSON':
      return '{ broken'
    default:
      return bodyOf(adapter)
  }
}

describe.each(byCommand)('$title, by its command hook', adapter => {
  test.each(OUTCOMES)('$outcome', async ({ effect, ...decided }) => {
    await daemon(adapter, { text: decided.outcome === 'pass' ? '' : WORDS, ...decided })
    const wanted = effect === 'asks' && !adapter.asks ? 'refused' : effect
    expect(await effectOf(adapter, 'pass', bodyOf(adapter))).toBe(wanted)
  })

  test.each(FAULTS)(
    '$fault: the call runs, or is refused where the hook was installed to block',
    async ({ fault, isJudged }) => {
      const input = await cause(fault, adapter)
      const broken: WhenBroken[] = adapter.failsClosed.command === 'none' ? ['pass'] : ['pass', 'block']
      const effects = await Promise.all(broken.map(whenBroken => effectOf(adapter, whenBroken, input)))
      expect(effects).toEqual(broken.map(whenBroken => (whenBroken === 'pass' || isJudged ? 'runs' : 'refused')))
    },
  )

  test('two at once across a boundary are both refused', async () => {
    await daemon(adapter, { outcome: 'refuse', text: WORDS })
    const two = [bodyOf(adapter), bodyOf(adapter, { tool_use_id: 'other' })]
    expect(await Promise.all(two.map(input => effectOf(adapter, 'pass', input)))).toEqual(['refused', 'refused'])
  })
})

describe.each(ADAPTERS)('$title', adapter => {
  const now = Date.now()
  const read = (body: object) => adapter.parse(Buffer.from(JSON.stringify(body)), now, adapter.originFromHeaders({}))
  const call = CALLS[adapter.client as Client]

  test('a refusal never comes without words, and no other event than a call is held', () => {
    const event = adapter.parse(
      Buffer.from(JSON.stringify(call.body)),
      now,
      adapter.originFromHeaders({ 'x-holdpoint-event': call.event }),
    )
    expect(event).toMatchObject({ kind: 'tool_call', sessionId: 's-1', cwd: '/p' })
    const row = MEASURED[adapter.client as Client]
    for (const text of ['', '  \n', WORDS]) {
      const { command } = adapter.render(
        { outcome: 'refuse', text },
        event.kind === 'parse_failure' ? undefined : event,
      )
      expect(row[endingOf(command)], text).toBe('refused')
    }
    const other = adapter.render({ outcome: 'refuse', text: WORDS })
    expect(row[endingOf(other.command)]).toBe('runs')
    expect(adapter.renderBroken('x').command).toMatchObject({ exit: 1, stdout: '' })
  })

  test('an event of a newer version is read and never held; the canary’s answer carries its words', () => {
    const body = {
      ...call.body,
      hook_event_name: 'HoldpointCanary',
      session_id: 'holdpoint-canary',
      sessionId: 'holdpoint-canary',
      conversation_id: 'holdpoint-canary',
    }
    const event = read(body)
    expect(event).toMatchObject({ kind: 'other', sessionId: 'holdpoint-canary' })
    if (event.kind === 'parse_failure') return
    const { command } = adapter.render({ outcome: 'pass', text: '', systemMessage: 'heard' }, event)
    expect(command).toMatchObject({ exit: 0, stdout: expect.stringContaining('heard') })
  })

  test('nothing that a tool is given leaves the adapter, but a subagent’s model', () => {
    const secret = {
      tool_input: { command: 'SECRET' },
      toolArgs: { command: 'SECRET' },
      prompt: 'SECRET',
      tool_response: 'SECRET',
    }
    expect(JSON.stringify(read({ ...call.body, ...secret }))).not.toContain('SECRET')
  })

  test('says what it holds and what it cannot do', () => {
    expect(adapter.holds).toContain('continue')
    expect(adapter.limits.length).toBeGreaterThan(0)
    for (const form of adapter.forms) expect(adapter.failsClosed[form]).toBeDefined()
    for (const limit of adapter.limits) expect(limit).toMatch(/^(?:[A-Z]|opencode ).*\.$/)
  })
})

import * as fs from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Decision, HookEvent, ParseFailure } from '#agent/clients/adapter.ts'
import { claude } from '#agent/clients/claude/claude.ts'
import type { ClientHome } from '#agent/clients/client-home.ts'
import type { WhenBroken } from '#agent/clients/hook-editor.ts'
import { pricingFrom } from '#agent/pricing/rate-card.ts'
import { picoToUsd } from '#core/pricing.ts'
import { builtInRates } from '#core/rate-card/built-in.ts'
import { type Bench, put, readIfThere, startBench, until } from './bench.ts'
import { bashScenario, claudeEnv, claudeTui, linesRan, runClaudeOn, usageCosting } from './claude.ts'
import { type HookServer, type SeenHook, startHookServer } from './hook-server.ts'
import type { Tmux } from './tmux.ts'

// a run takes a second or two alone and far longer beside a build
vi.setConfig({ testTimeout: 90_000 })

const TOKEN = 'hpk_dummy'
const pricing = pricingFrom(builtInRates())

let bench: Bench
let server: HookServer
let home: ClientHome
let events: (HookEvent | ParseFailure)[]
/** What the hook answers; a test sets it. */
let decide: (event: HookEvent) => Decision | 'broken' | Promise<Decision>

const parse = (seen: SeenHook) => claude.parse(seen.bytes, Date.now(), claude.originFromHeaders(seen.headers))

beforeEach(async () => {
  bench = await startBench()
  home = { homeDir: bench.home, env: {} }
  events = []
  decide = () => ({ outcome: 'pass', text: '' })
  server = await startHookServer(async seen => {
    const event = parse(seen)
    events.push(event)
    if (event.kind === 'parse_failure') return claude.renderBroken('no event').http
    const decision = await decide(event)
    return (decision === 'broken' ? claude.renderBroken('down') : claude.render(decision, event)).http
  })
})
afterEach(async () => {
  server.stop()
  await bench.stop()
})

/** A command hook in the place of ours: keeps its input and the two variables that it may read. */
function recorder(): { exe: string; args: string[] } {
  const exe = join(bench.home, '.holdpoint/bin/holdpoint-recorder')
  const cap = join(bench.dir, 'cap')
  fs.mkdirSync(cap, { recursive: true })
  put(
    exe,
    `#!/bin/sh\nt=$(mktemp ${cap}/x.XXXXXX)\ncat > "$t"\n` +
      `echo "$2 attended=$CLAUDE_CODE_SESSION_ATTENDED entry=$CLAUDE_CODE_ENTRYPOINT" > "$t.env"\n`,
  )
  fs.chmodSync(exe, 0o755)
  return { exe, args: [] }
}
const recorded = () => {
  const cap = join(bench.dir, 'cap')
  const names = fs.readdirSync(cap).filter(n => n.endsWith('.env'))
  return names.map(n => fs.readFileSync(join(cap, n), 'utf8').trim()).sort()
}

function install(whenBroken: WhenBroken = 'pass', port = server.port): void {
  const hookUrl = `http://127.0.0.1:${port}${claude.hookPath}`
  const request = { form: 'http' as const, hookUrl, hookToken: TOKEN, hookCommand: recorder(), whenBroken }
  claude.hooks.install(home, request, { dryRun: false })
}
const cost = (sessionId: string) => {
  const usage = claude.usage.readSession(home, { sessionId, cwd: bench.project }, undefined, pricing)
  return { ...usage, usd: usage.costPicoUsd === undefined ? undefined : picoToUsd(usage.costPicoUsd) }
}

describe('the answers that we give', () => {
  test('an empty pass lets the call run, and the hook came with token and entry point', async () => {
    install()
    const run = await runClaudeOn(bench)
    expect(run.toolCallsRan).toEqual(['ran'])
    expect(server.seen).toHaveLength(1)
    expect(server.seen[0]).toMatchObject({
      url: '/hook/claude-code',
      headers: {
        authorization: `Bearer ${TOKEN}`,
        'content-type': 'application/json',
        'x-holdpoint-entrypoint': 'sdk-cli',
      },
    })
    expect(events[0]).toMatchObject({
      kind: 'tool_call',
      toolName: 'Bash',
      attended: false,
      sessionId: run.result!.session_id,
    })
    expect(recorded()).toEqual([
      'SessionStart attended=0 entry=sdk-cli',
      'Stop attended=0 entry=sdk-cli',
      'UserPromptSubmit attended=0 entry=sdk-cli',
    ])
  })

  test.each(['refuse', 'ask'] as const)(
    '%s with nobody there: the call does not run and the model reads why',
    async outcome => {
      install()
      decide = () => ({ outcome, text: 'Over the limit of $20. Stop here.' })
      const run = await runClaudeOn(bench)
      expect(run.exit).toBe(0)
      expect(run.toolCallsRan).toEqual([])
      expect(run.toolResults).toMatchObject([
        { isError: true, text: expect.stringContaining('Over the limit of $20. Stop here.') },
      ])
      expect(run.result!.permission_denials).toHaveLength(1)
      expect(cost(run.result!.session_id).toolResults).toMatchObject([{ outcome: 'refused' }])
    },
  )

  test('a refusal that ends the turn: the call does not run, and the model is not asked again', async () => {
    install()
    decide = () => ({ outcome: 'refuse', text: 'Over the limit of $20. Stop here.', endTurn: true })
    const run = await runClaudeOn(bench)
    expect(run.toolCallsRan).toEqual([])
    expect(server.seen).toHaveLength(1)
    expect(run.requests.filter(({ body }) => JSON.stringify(body).includes('tool_result'))).toEqual([])
  })

  test.each<[WhenBroken, string[]]>([
    ['pass', ['ran']],
    ['block', []],
  ])('when broken: %s', async (whenBroken, ran) => {
    install(whenBroken)
    decide = () => 'broken'
    expect((await runClaudeOn(bench)).toolCallsRan).toEqual(ran)
    // nothing listens any more: the same
    fs.rmSync(join(bench.project, 'ran.txt'), { force: true })
    server.stop()
    expect((await runClaudeOn(bench)).toolCallsRan).toEqual(ran)
  })

  test('the command form refuses by exit 2, and an ask in it is refused with nobody there', async () => {
    for (const outcome of ['refuse', 'ask'] as const) {
      const event = { kind: 'tool_call' } as HookEvent
      const { command } = claude.render({ outcome, text: 'R-command' }, event)
      const hook = put(
        join(bench.dir, 'hook.sh'),
        `#!/bin/sh\ncat > /dev/null\nprintf %s '${command.stdout}'\nprintf %s '${command.stderr}' >&2\nexit ${command.exit}\n`,
      )
      fs.chmodSync(hook, 0o755)
      const settings = {
        hooks: { PreToolUse: [{ matcher: '*', hooks: [{ type: 'command', command: hook, args: [] }] }] },
      }
      const run = await runClaudeOn(bench, { settings })
      expect(run.toolCallsRan, outcome).toEqual([])
      expect(run.toolResults[0]?.text, outcome).toContain('R-command')
    }
  })
})

describe('proxies', () => {
  let proxy: http.Server
  let proxied: string[]
  let env: { HTTP_PROXY: string; http_proxy: string }
  beforeEach(async () => {
    proxied = []
    // carries the model's requests and swallows the hook, as a planted proxy would
    proxy = http.createServer((request, response) => {
      const to = new URL(request.url ?? '')
      proxied.push(to.pathname)
      if (to.pathname === claude.hookPath) return void response.writeHead(200).end()
      const { method, headers } = request
      const up = http.request(
        { host: to.hostname, port: to.port, path: to.pathname + to.search, method, headers },
        reply => {
          response.writeHead(reply.statusCode ?? 502, reply.headers)
          reply.pipe(response)
        },
      )
      up.on('error', () => response.destroy())
      request.pipe(up)
    })
    proxy.on('connect', (request, socket) => {
      proxied.push(`CONNECT ${request.url}`)
      socket.end('HTTP/1.1 502 no\r\n\r\n')
    })
    await new Promise<void>(resolve => proxy.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
    env = { HTTP_PROXY: url, http_proxy: url }
    decide = () => ({ outcome: 'refuse', text: 'R' })
  })
  afterEach(() => {
    proxy.closeAllConnections()
    proxy.close()
  })

  test('a proxy in the environment does not divert the hook: NO_PROXY was installed beside it', async () => {
    install()
    expect((await runClaudeOn(bench, { env })).toolCallsRan).toEqual([])
    expect(server.seen).toHaveLength(1)
  })

  test('a proxy in the user’s own settings does not either', async () => {
    put(join(bench.home, '.claude', 'settings.json'), JSON.stringify({ env: { ...env, NO_PROXY: 'corp.example' } }))
    install()
    expect((await runClaudeOn(bench)).toolCallsRan).toEqual([])
    expect(server.seen).toHaveLength(1)
  })

  test('a proxy in the project’s settings does not either', async () => {
    install()
    expect((await runClaudeOn(bench, { projectSettings: { env } })).toolCallsRan).toEqual([])
    expect(server.seen).toHaveLength(1)
  })

  test('known limit: a project that also empties NO_PROXY diverts it, and the inspection says so', async () => {
    install()
    const projectSettings = { env: { ...env, NO_PROXY: '', no_proxy: '' } }
    expect((await runClaudeOn(bench, { projectSettings })).toolCallsRan).toEqual(['ran'])
    expect(server.seen).toHaveLength(0)
    expect(proxied.some(p => p.includes(String(server.port)) || p === claude.hookPath)).toBe(true)
    expect(claude.hooks.inspect(home, { projectDirs: [bench.project] })).toMatchObject({
      level: 'broken',
      findings: expect.arrayContaining([expect.objectContaining({ severity: 'off', code: 'no_proxy_emptied' })]),
    })
  })

  test('with block instead of pass, the diverted call does not run', async () => {
    install('block')
    const projectSettings = { env: { ...env, NO_PROXY: '', no_proxy: '' } }
    const run = await runClaudeOn(bench, { projectSettings })
    expect(run.toolCallsRan).toEqual([])
    expect(run.toolResults).toMatchObject([{ isError: true }])
    expect(server.seen).toHaveLength(0)
  })
})

describe('what the session cost', () => {
  test('reaches the transcript while the call that follows still waits for its answer', async () => {
    install()
    let atHook: ReturnType<typeof cost> | undefined
    decide = async event => {
      // it is written some 5 to 140 ms after an http hook arrives, whether or not that is answered
      atHook ??= await until('the response in the transcript', () => {
        const now = cost(event.sessionId)
        return now.toolUses.length > 0 && now
      })
      return { outcome: 'pass', text: '' }
    }
    const run = await runClaudeOn(bench, { scenario: bashScenario(usageCosting(20)) })
    expect(atHook).toMatchObject({ usd: '20', fresh: true, fallback: false, model: 'claude-opus-5-5' })
    expect(atHook!.toolUses.map(t => t.toolUseId)).toEqual([(events[0] as { toolUseId: string }).toolUseId])
    expect(Number(cost(run.result!.session_id).usd)).toBeCloseTo(run.result!.total_cost_usd, 10)
  })

  test('counts subagents, goes on after --resume, and a fork begins where its parent was', async () => {
    install()
    const run = await runClaudeOn(bench, { scenario: 'task', allow: ['Bash', 'Agent'] })
    expect(run.toolCallsRan).toEqual(['sub'])
    const inSubagent = events.find(e => 'agentId' in e) as { agentId: string; sessionId: string }
    const { session_id } = run.result!
    expect(inSubagent.sessionId).toBe(session_id)
    const first = cost(session_id)
    expect(Number(first.usd)).toBeCloseTo(run.result!.total_cost_usd, 10)
    expect(first.records.filter(r => r.agentId === inSubagent.agentId)).toHaveLength(2)

    const resumed = await runClaudeOn(bench, { args: ['--resume', session_id] })
    expect(resumed.result!.session_id).toBe(session_id)
    const second = cost(session_id)
    expect(Number(second.usd)).toBeCloseTo(Number(first.usd) + 0.1465624, 10)

    const fork = await runClaudeOn(bench, { args: ['--resume', session_id, '--fork-session'] })
    const forked = cost(fork.result!.session_id)
    expect(Number(forked.usd)).toBeGreaterThan(Number(second.usd) - 0.06)
    const parents = new Set(second.records.map(r => r.key))
    expect(forked.records.filter(r => parents.has(r.key)).length).toBeGreaterThan(0)
  })
})

describe('someone at the keyboard', () => {
  let tui: (Tmux & { prompt: string }) | undefined
  afterEach(() => tui?.kill())

  test.each([
    ['Enter', 'ran', ['ran']],
    ['Escape', 'declined', []],
  ] as const)('an ask answered with %s is read back as %s', async (key, outcome, ran) => {
    install()
    decide = () => ({ outcome: 'ask', text: 'R-ask: $21.00 of $20.00' })
    tui = await claudeTui(bench)
    await until('the session to start', () => recorded().some(r => r.startsWith('SessionStart')))
    tui.type(tui.prompt)
    await tui.waitFor(tui.prompt)
    tui.sendKeys('Enter')
    const screen = await tui.waitFor('R-ask: $21.00 of $20.00')
    expect(screen).toContain('requires confirmation')
    await tui.waitFor('Yes')
    await tui.answer('requires confirmation', key)
    const call = events[0] as { sessionId: string; toolUseId: string; attended?: boolean }
    const result = await until('the answer in the transcript', () => cost(call.sessionId).toolResults[0])
    expect(result).toMatchObject({ toolUseId: call.toolUseId, outcome })
    expect(linesRan(bench)).toEqual(ran)
    expect(recorded()[0]).toBe('SessionStart attended=1 entry=cli')
    expect(events[0]).toMatchObject({ entrypoint: 'cli' })
    expect(call.attended).toBeUndefined()
  })
})

test('nothing of the caller’s environment reaches the client', () => {
  const env = claudeEnv(bench)
  expect(env.HOME).toBe(bench.home)
  expect(Object.keys(env).filter(name => /proxy/i.test(name))).toEqual([])
  expect(readIfThere(join(bench.home, '.claude/settings.json'))).toBeUndefined()
})

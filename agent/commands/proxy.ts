import { readDaemonDoor } from '#agent/daemon-client.ts'
import { askLoopback } from '#agent/hook/loopback.ts'
import { PROXY_PORT, type RunningProxy, readProxy } from '#agent/proxy/place.ts'
import { runProxy } from '#agent/proxy/run.ts'
import type { ProxyCounts } from '#agent/proxy/server.ts'
import { columns, count, localTime, plain, plainDeep, type Terminal } from '#agent/terminal.ts'
import type { Command } from './command.ts'
import { CommandFailure, EXIT } from './exit.ts'
import { VERSION } from './version.ts'

/** After this a stop waits for no answer any more. */
const STOP_MS = 10_000

export const proxy: Command = {
  name: 'proxy',
  summary: 'run the local proxy: it meters what agents ask of models, and may move requests to cheaper ones',
  options: { port: { type: 'string', value: 'PORT', help: `where it listens on loopback (default ${PROXY_PORT})` } },
  about:
    'Runs in the foreground until it is interrupted, and prints what to set in each client. Requests and answers pass byte for byte; what answers tell of usage is counted once, whoever else tells of it. ' +
    'Upstreams, routes and their mode stand under `routing:` in ~/.holdpoint/config.yaml. Without `mode: active` nothing is moved; a boundary on model_route can hold a move, and the request then goes on with its own model. Keys go through it and are neither kept nor logged; it listens on 127.0.0.1 only. Whoever points a client elsewhere passes it by.',
  examples: [
    ['holdpoint proxy', `listen on port ${PROXY_PORT}`],
    ['holdpoint proxy --port 0 --json', 'on any free port, its address as JSON'],
  ],
  async run({ flags, home, json, terminal }) {
    const port = readPort(flags.port)
    const running = await startOrSay({ home, version: VERSION, port, log: line => terminal.note(line) })
    const base = `http://127.0.0.1:${running.port}`
    const { mode, upstreams, rules, hardStop } = running.config.now()
    if (json)
      terminal.json({
        base,
        mode,
        hardStop,
        upstreams: upstreams.map(({ name, url }) => ({ name, url })),
        routes: rules.length,
      })
    else {
      terminal.line(`Listening on ${base}; Ctrl-C ends it.`)
      if (running.config.problem) terminal.line(terminal.paint('red', `${home.config}: ${running.config.problem}`))
      if (!readDaemonDoor(home))
        terminal.line(
          'The daemon is not running: nothing is routed, and calls are counted when it is (`holdpoint daemon start`).',
        )
      printClients(terminal, base)
    }
    await new Promise<void>(resolve => {
      let stopping = false
      const stop = () => {
        // a second one does not wait
        if (stopping) return process.exit(EXIT.ok)
        stopping = true
        void running.stop(STOP_MS).then(resolve)
      }
      process.on('SIGINT', stop)
      process.on('SIGTERM', stop)
    })
    return EXIT.ok
  },
}

function readPort(said: string | boolean | undefined): number {
  if (said === undefined) return PROXY_PORT
  const port = /^\d{1,5}$/.test(String(said)) ? Number(said) : 65_536
  if (port > 65_535) throw new CommandFailure('usage', 'usage', '`--port` wants a number from 0 to 65535.')
  return port
}

async function startOrSay(options: Parameters<typeof runProxy>[0]) {
  try {
    return await runProxy(options)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code !== 'EADDRINUSE' && code !== 'EACCES') throw new CommandFailure('failed', code ?? 'internal', message)
    const own =
      readProxy(options.home)?.port === options.port ? 'The proxy of this home runs there already.' : undefined
    throw new CommandFailure(
      'failed',
      'port_taken',
      own ?? `Port ${options.port} cannot be had (${code}).`,
      own ? 'See `holdpoint proxy status`.' : 'Name another one with `--port`.',
    )
  }
}

/** The lines to set, by client. */
function printClients(terminal: Terminal, base: string): void {
  const lines: [string, string[]][] = [
    ['Claude Code (environment)', [`export ANTHROPIC_BASE_URL=${base}/anthropic`]],
    [
      'Codex (~/.codex/config.toml)',
      [
        'model_provider = "holdpoint"',
        '[model_providers.holdpoint]',
        'name = "OpenAI through Holdpoint"',
        `base_url = "${base}/openai/v1"`,
        'env_key = "OPENAI_API_KEY"',
        'wire_api = "responses"',
        'supports_websockets = false',
      ],
    ],
    [
      'opencode (opencode.json, under "provider")',
      [`"anthropic": { "options": { "baseURL": "${base}/anthropic/v1" } }`],
    ],
    ['Copilot CLI with a key of your own (environment)', [`export COPILOT_PROVIDER_BASE_URL=${base}/openai/v1`]],
    ['Other programs', [`export OPENAI_BASE_URL=${base}/openai/v1`, `export ANTHROPIC_BASE_URL=${base}/anthropic`]],
    ['Where a proxy variable is set (environment)', ['export NO_PROXY=127.0.0.1,localhost']],
    ['Whose the calls are, where no rule says so', [`${base}/s/tenant=acme,project=shop/anthropic`]],
  ]
  for (const [head, text] of lines) {
    terminal.line(terminal.paint('bold', head))
    for (const line of text) terminal.line(`  ${line}`)
  }
}

const DID = {
  observed: 'would have moved',
  routed: 'moved',
  held: 'held, gone on with its own model',
  upward: 'not moved: the other model is dearer, or nobody can tell',
} as const

export const proxyStatus: Command = {
  name: 'proxy status',
  summary: 'whether the proxy runs, what passed through it, and what its routes came to',
  about: 'Asks the running proxy of this home. Counts are since its start; usage itself is in `holdpoint history`.',
  examples: [['holdpoint proxy status --json', 'for a script']],
  async run({ home, json, terminal }) {
    const running = readProxy(home)
    const counts = running && (await countsOf(running))
    if (!running || !counts)
      throw new CommandFailure(
        'missing',
        'proxy_missing',
        'The proxy is not running.',
        'Start it with `holdpoint proxy`.',
      )
    if (json) {
      const { token: _, ...shown } = running
      terminal.json({ ...shown, ...counts })
      return EXIT.ok
    }
    terminal.line(
      `Listening on http://127.0.0.1:${running.port} since ${localTime(running.startedAt)}, mode ${running.mode}`,
    )
    const rows: [string, string][] = [
      ['requests', `${counts.requests}, ${counts.open} open`],
      ['calls metered', String(counts.metered)],
    ]
    if (counts.untold > 0)
      rows.push([
        'without counts',
        `${counts.untold}: the answer broke off before it told them, or the client does not ask for them (Chat Completions: stream_options.include_usage)`,
      ])
    if (counts.unread > 0)
      rows.push(['unread', `${count(counts.unread, 'answer')} in a packing or form that is not known here`])
    if (counts.stopped > 0) rows.push(['stopped', String(counts.stopped)])
    if (counts.unanswered > 0) rows.push(['not decided', `${counts.unanswered}: the daemon did not answer in time`])
    for (const { provider, window, usedPct } of counts.windows)
      rows.push([`${provider} ${window}`, `${Number(usedPct.toFixed(1))}% used`])
    for (const { rule, from, to, did, times } of counts.routes)
      rows.push([`route ${rule}`, plain(`${from} → ${to}: ${DID[did]}, ${count(times, 'time')}`, 300)])
    for (const line of columns(rows, '  ')) terminal.line(line)
    return EXIT.ok
  },
}

async function countsOf({ port, token }: RunningProxy): Promise<ProxyCounts | undefined> {
  try {
    const { status, body } = await askLoopback({
      port,
      method: 'GET',
      path: '/holdpoint/status',
      headers: { Authorization: `Bearer ${token}` },
      timeoutMs: 2000,
    })
    return status === 200 ? (plainDeep(JSON.parse(body)) as ProxyCounts) : undefined
  } catch {
    return undefined
  }
}

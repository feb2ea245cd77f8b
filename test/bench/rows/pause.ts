import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { socketPlace } from '#agent/hook/socket-place.ts'
import { root } from '#server/boot/environment.mjs'
import { exactly, put } from '../../clients/bench.ts'
import { type Case, interleave, median, percentile, type Row } from '../bench.ts'
import { timeToolCalls } from '../claude.ts'
import { timeCodexCalls, writeCodexHook } from '../codex.ts'
import { Connector } from '../connector.ts'
import { LOCAL_RULES, timeDecisions } from '../decision.ts'
import { type Later, temporaryFolder, withUndo } from '../undo.ts'

const CLIENT_ROUNDS = 3
const PROCESS_ROUNDS = 40
const DECISION_ROUNDS = 3
const ADDED_MS = 3
const PROCESS_RATIO = 1.1
const QUIET_MS = 0.1
const CROSSED_MS = 0.7
const P99_MS = 5

export const row: Row = {
  name: 'pause',
  run: () =>
    withUndo(async later => {
      const machine = await Connector.install(later)
      writeFileSync(join(machine.home, 'config.yaml'), LOCAL_RULES)
      await machine.startDaemon()
      return [
        ...(await inTheClient(later, machine)),
        ...(await inCodex(later, machine)),
        ...(await asCommand(machine)),
        ...(await inProcess(later)),
      ]
    }),
}

/** The real client with our http hook, beside the same without any and with one that a bare process answers, in turns. */
async function inTheClient(later: Later, machine: Connector): Promise<Case[]> {
  await machine.run('hooks', 'install', '--client', 'claude-code', '--form', 'http')
  const bare = await startBareServer(later)
  const bareHome = temporaryFolder(later)
  const hooks = { PreToolUse: [{ matcher: '*', hooks: [{ type: 'http', url: bare }] }] }
  put(join(bareHome, '.claude/settings.json'), { hooks })
  const contenders = [
    { time: await timeToolCalls(later, machine.user), gaps: [] as number[] },
    { time: await timeToolCalls(later, temporaryFolder(later)), gaps: [] as number[] },
    { time: await timeToolCalls(later, bareHome), gaps: [] as number[] },
  ]
  for (let round = 0; round <= CLIENT_ROUNDS; round++) {
    for (const { time, gaps } of round % 2 ? contenders : [...contenders].reverse()) {
      const measured = await time()
      if (round > 0) gaps.push(...measured) // the first round warms up
    }
  }
  const [ours, none, answered] = contenders.map(({ gaps }) => median(gaps)) as [number, number, number]
  if (
    machine.judged() < contenders[0]!.gaps.length ||
    Number(await (await fetch(bare)).text()) < contenders[2]!.gaps.length
  )
    throw new Error('a hook was not asked about the calls of the client')
  const beside = (against: string, againstValue: number, must: string, ok: boolean): Case => ({
    row: 'pause',
    case: 'a call in Claude Code with the http hook',
    value: ours,
    unit: 'ms',
    against,
    againstValue,
    ratio: ours / againstValue,
    must,
    ok,
  })
  return [
    beside('no hook', none, `within ${ADDED_MS} ms`, ours - none <= ADDED_MS),
    beside('an http hook that a bare process answers', answered, 'for information', true),
  ]
}

/** The real Codex with our hook, which it takes as a command only, beside none and beside the least that could ask the daemon. */
async function inCodex(later: Later, machine: Connector): Promise<Case[]> {
  // it is not told to trust the hook, which is what the command ends with; the runs below trust whatever is there
  await machine.run('hooks', 'install', '--client', 'codex').catch(() => {})
  const bareHome = temporaryFolder(later)
  const { path } = socketPlace(machine.home)!
  writeCodexHook(bareHome, `${process.execPath} ${join(root, 'test/bench/minimal-hook.cjs')} ${path} codex`)
  const contenders = [
    { time: await timeCodexCalls(later, machine.user), gaps: [] as number[] },
    { time: await timeCodexCalls(later, temporaryFolder(later)), gaps: [] as number[] },
    { time: await timeCodexCalls(later, bareHome), gaps: [] as number[] },
  ]
  const before = machine.judged()
  for (let round = 0; round <= CLIENT_ROUNDS; round++) {
    for (const { time, gaps } of round % 2 ? contenders : [...contenders].reverse()) {
      const measured = await time()
      if (round > 0) gaps.push(...measured) // the first round warms up
    }
  }
  if (machine.judged() - before < 2 * contenders[0]!.gaps.length)
    throw new Error('a hook was not asked about the calls of Codex')
  const [ours, none, bare] = contenders.map(({ gaps }) => median(gaps)) as [number, number, number]
  const beside = (against: string, againstValue: number, must: string, ok: boolean): Case => ({
    row: 'pause',
    case: 'a call in Codex with the command hook',
    value: ours,
    unit: 'ms',
    against,
    againstValue,
    ratio: ours / againstValue,
    must,
    ok,
  })
  return [
    beside('a minimal process of its kind', bare, 'within 10 %', ours <= bare * PROCESS_RATIO),
    beside('no hook', none, 'for information', true),
  ]
}

async function startBareServer(later: Later): Promise<string> {
  const program = join(root, 'test/bench/bare-hook-server.cjs')
  const child = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'], detached: true })
  later(() => child.kill())
  const [port] = (await once(child.stdout, 'data')) as [Buffer]
  return `http://127.0.0.1:${port.toString().trim()}/hook`
}

/** The command hook as it is installed, at the pause point, beside the least that could do its work. */
async function asCommand(machine: Connector): Promise<Case[]> {
  await machine.run('hooks', 'install', '--client', 'claude-code', '--form', 'command')
  const settings = JSON.parse(readFileSync(join(machine.user, '.claude/settings.json'), 'utf8'))
  const [program, ...words] = settings.hooks.PreToolUse[0].hooks[0].args as string[]
  const before = machine.judged()
  const empty = join(machine.user, 'empty.cjs')
  writeFileSync(empty, '')
  const { path } = socketPlace(machine.home)!
  const time =
    (...args: string[]) =>
    () => {
      const input = JSON.stringify(machine.payload('00000000-0000-4000-8000-000000000002'))
      const began = performance.now()
      const ran = spawnSync(process.execPath, args, { input, env: exactly(machine.env), cwd: machine.cwd })
      const took = performance.now() - began
      if (ran.status !== 0 || ran.stdout.length > 0) throw new Error(`${args[0]}: ${ran.stderr}${ran.stdout}`)
      return took
    }
  const took = await interleave(
    {
      ours: time(program!, ...words),
      minimal: time(join(root, 'test/bench/minimal-hook.cjs'), path),
      empty: time(empty),
    },
    PROCESS_ROUNDS,
  )
  if (machine.judged() - before < 2 * PROCESS_ROUNDS) throw new Error('the daemon was not asked about every call')
  const beside = (against: string, againstValue: number, must: string, ok: boolean): Case => ({
    row: 'pause',
    case: 'a call through the command hook, its process and the daemon',
    value: took.ours,
    unit: 'ms',
    against,
    againstValue,
    ratio: took.ours / againstValue,
    must,
    ok,
  })
  return [
    beside('a minimal process of its kind', took.minimal, 'within 10 %', took.ours <= took.minimal * PROCESS_RATIO),
    beside('an empty file in Node', took.empty, 'for information', true),
  ]
}

/** The daemon's own decision, without a process or a socket in between. */
async function inProcess(later: Later): Promise<Case[]> {
  const kinds = [
    { name: 'nothing crossed', usd: 1, mustMs: QUIET_MS, took: [] as number[] },
    { name: 'crossed', usd: 1000, mustMs: CROSSED_MS, took: [] as number[] },
  ]
  for (let round = 0; round <= DECISION_ROUNDS; round++) {
    for (const { usd, took } of kinds) {
      const measured = await timeDecisions(later, usd)
      if (round > 0) took.push(...measured) // the first round warms up
    }
  }
  return kinds.flatMap(({ name, mustMs, took }) => [
    decision(name, 'median', median(took), mustMs),
    decision(name, 'p99', percentile(took, 0.99), P99_MS),
  ])
}

const decision = (name: string, figure: string, value: number, mustMs: number): Case => ({
  row: 'pause',
  case: `the daemon's own decision, ${name}, ${figure}`,
  value,
  unit: 'ms',
  against: 'what it may take',
  againstValue: mustMs,
  ratio: value / mustMs,
  must: `${figure} ${mustMs} ms`,
  ok: value <= mustMs,
})

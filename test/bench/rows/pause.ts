import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '#server/boot/environment.mjs'
import { exactly } from '../../clients/bench.ts'
import { type Case, interleave, median, percentile, type Row } from '../bench.ts'
import { timeToolCalls } from '../claude.ts'
import { Connector } from '../connector.ts'
import { LOCAL_RULES, timeDecisions } from '../decision.ts'
import { type Later, temporaryFolder, withUndo } from '../undo.ts'

const CLIENT_ROUNDS = 6
const PROCESS_ROUNDS = 40
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
      return [await inTheClient(later, machine), ...(await asCommand(machine)), ...(await inProcess(later))]
    }),
}

/** The real client with our http hook, beside the same without any, in turns. */
async function inTheClient(later: Later, machine: Connector): Promise<Case> {
  await machine.run('hooks', 'install')
  const withHook = await timeToolCalls(later, machine.user)
  const without = await timeToolCalls(later, temporaryFolder(later))
  const gaps = { hook: [] as number[], none: [] as number[] }
  for (let round = 0; round <= CLIENT_ROUNDS; round++) {
    for (const name of round % 2 ? (['hook', 'none'] as const) : (['none', 'hook'] as const)) {
      const measured = await (name === 'hook' ? withHook : without)()
      if (round > 0) gaps[name].push(...measured) // the first round warms up
    }
  }
  if (machine.judged() < gaps.hook.length) throw new Error('the daemon did not judge the calls of the client')
  const [value, againstValue] = [median(gaps.hook), median(gaps.none)]
  return {
    row: 'pause',
    case: 'a call in Claude Code with the http hook',
    value,
    unit: 'ms',
    against: 'no hook',
    againstValue,
    ratio: value / againstValue,
    must: `within ${ADDED_MS} ms`,
    ok: value - againstValue <= ADDED_MS,
  }
}

/** The process that a client starts per event, beside the least that could do its work. */
async function asCommand(machine: Connector): Promise<Case[]> {
  const empty = join(machine.user, 'empty.cjs')
  writeFileSync(empty, '')
  const { port, hookToken } = machine.door
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
      ours: time(join(machine.home, 'bin/hook.cjs'), 'claude-code', 'PreToolUse'),
      minimal: time(join(root, 'test/bench/minimal-hook.cjs'), String(port), hookToken),
      empty: time(empty),
    },
    PROCESS_ROUNDS,
  )
  const beside = (against: string, againstValue: number, must: string, ok: boolean): Case => ({
    row: 'pause',
    case: 'the command adapter, daemon up',
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
  const cases: Case[] = []
  for (const [name, usd, mustMs] of [
    ['nothing crossed', 1, QUIET_MS],
    ['crossed', 1000, CROSSED_MS],
  ] as const) {
    const took = await timeDecisions(later, usd)
    for (const [figure, value, must] of [
      ['median', median(took), mustMs],
      ['p99', percentile(took, 0.99), P99_MS],
    ] as const)
      cases.push({
        row: 'pause',
        case: `the daemon's own decision, ${name}, ${figure}`,
        value,
        unit: 'ms',
        against: 'what it may take',
        againstValue: must,
        ratio: value / must,
        must: `${figure} ${must} ms`,
        ok: value <= must,
      })
  }
  return cases
}

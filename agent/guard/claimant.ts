/**
 * The daemon's own look at the process that says of itself that a person sits at it. A deterrent: a file in
 * the spool, or a call with the owner's token, which any program of this user can write or make, loosens nothing by itself.
 */
import { readFileSync, readlinkSync, realpathSync, statSync } from 'node:fs'
import { basename, isAbsolute, join } from 'node:path'
import { describeChain, judgeChain, type ProcessLink, readChain } from './ancestry.ts'
import { agentMark, terminalFrom } from './person.ts'
import { seenAgents, startedAtMs } from './seen-agents.ts'

/** What a command says of itself; `at` is when the word was typed. */
export type Claim = { pid: number; tty: string; at: string }

export type ClaimRefusal =
  | 'not_a_claim'
  | 'given_too_long_ago'
  | 'gone'
  | 'another_user'
  | 'another_program'
  | 'another_command'
  | 'another_terminal'
  | 'agent_environment'
  | 'started_later'
  | 'agent'
  | 'seen_agent'
  | 'no_terminal'

/** The same for the person who asked, after "refused because". */
export const CLAIM_REFUSAL_WORDS: Record<ClaimRefusal, string> = {
  not_a_claim: 'it did not say which process asks',
  given_too_long_ago: 'it was given too long ago',
  gone: 'the process that asked is no longer there',
  another_user: 'the process that asked belongs to another user',
  another_program: 'the process that asked is another program',
  another_command: 'the process that asked runs another command',
  another_terminal: 'the process that asked sits at another terminal',
  agent_environment: 'an agent’s variables are set for the process that asked',
  started_later: 'the process that asked began after the word was typed',
  agent: 'an agent started it',
  seen_agent: 'a process that runs an agent’s session started it',
  no_terminal: 'it was not started from a login shell, an ssh session or a terminal window',
}

export type ClaimJudgement = { ok: true; chain: string[] } | { ok: false; code: ClaimRefusal; chain?: string[] }

/** The word was typed a moment ago: the daemon looks twice a second. */
const CLAIM_MAX_MS = 10_000
/** The system tells its own start in whole seconds, and every process's start from there. */
const START_SLACK_MS = 2000

/** Reads a claim out of what somebody sent; undefined when it is none. */
export function readClaim({ pid, tty, at }: Record<string, unknown>): Claim | undefined {
  if (typeof pid !== 'number' || !Number.isSafeInteger(pid) || pid < 2) return undefined
  if (typeof tty !== 'string' || tty === '' || tty.length > 40) return undefined
  return typeof at === 'string' && Number.isFinite(Date.parse(at)) ? { pid, tty, at } : undefined
}

/**
 * Looks at the process that a claim names. On Linux it must be alive and this user's, run one of `programs` with a call that
 * `isCall` knows (the words behind the program, options left out), sit at the terminal that it names, have no agent's mark in
 * the environment it was started with, and have begun before `at`; its ancestors are judged as everywhere. macOS tells no
 * environment, terminal or start, so there only program, call and ancestors are looked at; Windows tells nothing of other
 * processes, and the claim stands as it was made.
 *
 * What it cannot see: whether the word was typed. A program of this user that waits until a person has such a command open
 * can answer in its name.
 */
export function judgeClaim(
  claim: Claim | undefined,
  nowMs: number,
  home: string,
  programs: readonly string[],
  isCall: (words: string[]) => boolean,
): ClaimJudgement {
  if (!claim) return { ok: false, code: 'not_a_claim' }
  if (!(Math.abs(nowMs - Date.parse(claim.at)) <= CLAIM_MAX_MS)) return { ok: false, code: 'given_too_long_ago' }
  const chain = readChain(claim.pid)
  if (!chain.readable) return { ok: true, chain: describeChain(chain) }
  const names = describeChain(chain)
  const refused = (code: ClaimRefusal): ClaimJudgement => ({ ok: false, code, chain: names })
  const own = chain.links[0]
  if (!own) return refused('gone')
  const onLinux = process.platform === 'linux'
  try {
    // whose process it is comes first: of another user's nothing else can be read
    if (onLinux && statSync(`/proc/${own.pid}`).uid !== process.getuid?.()) return refused('another_user')
    const words = wordsBehind(own, programs)
    if (!words) return refused('another_program')
    if (!isCall(words)) return refused('another_command')
    if (onLinux) {
      if (!sitsAt(own, claim.tty)) return refused('another_terminal')
      if (agentMark(environmentOf(own.pid))) return refused('agent_environment')
      if (startedAtMs(own.pid) > Date.parse(claim.at) + START_SLACK_MS) return refused('started_later')
    }
  } catch {
    return refused('gone')
  }
  const judged = judgeChain(chain, seenAgents(home))
  return judged.ok ? { ok: true, chain: names } : refused(judged.code)
}

/**
 * The words of a call of one of the programs, without options; undefined when the process runs something else. Outside Linux the
 * arguments come as one text, cut at every space: there the program is known by its file's name alone.
 */
function wordsBehind({ pid, argv, exe }: ProcessLink, programs: readonly string[]): string[] | undefined {
  const at = argv.findIndex(arg => basename(arg) === 'holdpoint.cjs')
  if (at < 1) return undefined
  const runner = basename(exe ?? argv[0]!).replace(/ \(deleted\)$/, '')
  if (!/^node(js)?$/.test(runner) && exe !== process.execPath) return undefined
  if (process.platform === 'linux') {
    if (argv.slice(1, at).some(arg => !arg.startsWith('-'))) return undefined
    const named = argv[at]!
    const path = realPath(isAbsolute(named) ? named : join(readlinkSync(`/proc/${pid}/cwd`), named))
    if (!programs.some(program => realPath(program) === path)) return undefined
  }
  return argv.slice(at + 1).filter(word => !word.startsWith('-'))
}

/** proc(5): the number of the controlling terminal has the form of a device's, in 32 bits. */
function sitsAt({ pid, tty }: ProcessLink, name: string): boolean {
  if (!tty || terminalFrom(readlinkSync(`/proc/${pid}/fd/0`)) !== name) return false
  return !name.startsWith('/dev/') || statSync(name).rdev === tty >>> 0
}

function environmentOf(pid: number): Record<string, string> {
  const pairs = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
  return Object.fromEntries(pairs.map(pair => [pair.split('=', 1)[0]!, pair.slice(pair.indexOf('=') + 1)]))
}

function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

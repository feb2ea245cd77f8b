/**
 * Whether a person sits at this terminal. It stands before everything that loosens: approve, leave,
 * demote, hooks uninstall, daemon stop. A deterrent: an agent of the same user that sets its mind to it gets past, and what
 * it leaves behind (terminal, chain of processes) is recorded with the answer.
 */
import { execFileSync } from 'node:child_process'
import { closeSync, openSync, readlinkSync, readSync, writeSync } from 'node:fs'
import { type Chain, describeChain, judgeChain, readChain } from './ancestry.ts'
import { seenAgents } from './seen-agents.ts'

/** What is recorded about whoever answered. `chain` holds programs' names, nearest first. */
export type Person = { how: 'cli'; pid: number; tty: string; chain: string[]; anchor: string }

export class GuardRefused extends Error {
  readonly code: 'agent_environment' | 'no_terminal' | 'agent_ancestor' | 'not_confirmed'
  constructor(code: GuardRefused['code'], message: string) {
    super(message)
    this.name = 'GuardRefused'
    this.code = code
  }
}

/**
 * Variables that agents set for the commands they run. Settings that a person exports themselves (`CLAUDE_CODE_USE_BEDROCK`,
 * `CODEX_HOME`, `GEMINI_MODEL`) say nothing about who is typing and do not count.
 */
const AGENT_MARKS = [
  'AI_AGENT',
  'CLAUDECODE',
  'CLAUDE_PID',
  'CLAUDE_CODE_CHILD_SESSION',
  'CLAUDE_CODE_ENTRYPOINT',
  'CLAUDE_CODE_MESSAGING_SOCKET',
  'CLAUDE_CODE_MESSAGING_TOKEN',
  'CLAUDE_CODE_SESSION_ATTENDED',
  'CLAUDE_CODE_SESSION_ID',
  'CLAUDE_CODE_SSE_PORT',
  'CODEX_SANDBOX',
  'CODEX_THREAD_ID',
  'COPILOT_CLI',
  'CURSOR_AGENT',
  'GEMINI_CLI',
  'OPENCODE',
] as const

/** The first mark of an agent in an environment. */
export function agentMark(env: Readonly<Record<string, string | undefined>>): string | undefined {
  return AGENT_MARKS.find(name => env[name] !== undefined && env[name] !== '')
}

/**
 * Checks environment, terminal and ancestors of this process; nothing is asked yet.
 * @throws GuardRefused with the reason in words
 */
export function checkPerson(home: string, env: Readonly<Record<string, string | undefined>> = process.env): Person {
  const mark = agentMark(env)
  if (mark) throw new GuardRefused('agent_environment', `${mark} is set, so an agent runs this command.`)
  const tty = terminalName()
  if (!tty) throw new GuardRefused('no_terminal', 'There is no terminal here: both input and output must be one.')
  const chain = readChain(process.pid)
  const judged = judgeChain(chain, seenAgents(home))
  if (!judged.ok) {
    throw new GuardRefused(
      judged.code === 'no_terminal' ? 'no_terminal' : 'agent_ancestor',
      `This command cannot tell that a person is typing: ${judged.words}.`,
    )
  }
  return { how: 'cli', pid: process.pid, tty, chain: describeChain(chain), anchor: judged.anchor }
}

/** What the guard could not check here, to be said aloud; undefined when it could. */
export function uncheckedBecause(chain: Chain): string | undefined {
  return chain.readable ? undefined : chain.why
}

/** The name of the terminal when standard input and output are one, such as `/dev/pts/3`. */
function terminalName(): string | undefined {
  if (!process.stdin.isTTY || !process.stdout.isTTY) return undefined
  if (process.platform === 'win32') return 'console'
  try {
    const name =
      process.platform === 'linux'
        ? readlinkSync('/proc/self/fd/0')
        : execFileSync('/usr/bin/tty', { encoding: 'utf8', stdio: ['inherit', 'pipe', 'ignore'] }).trim()
    return terminalFrom(name)
  } catch {
    return 'terminal'
  }
}

/** The name that a terminal is recorded under: its own where it has the form of one. */
export const terminalFrom = (name: string): string =>
  /^\/dev\/(pts\/\d+|tty[A-Za-z0-9]{0,12}|console|hvc\d+)$/.test(name) ? name : 'terminal'

/**
 * Asks for a word on the terminal itself, so that nothing piped into the command can answer. Waits without a limit;
 * Ctrl-C ends the command.
 * @throws GuardRefused when another word, or none, was typed
 */
export function confirmWord(question: string, word: string): void {
  const device = process.platform === 'win32' ? { in: 'CONIN$', out: 'CONOUT$' } : { in: '/dev/tty', out: '/dev/tty' }
  let input: number
  let output: number
  try {
    input = openSync(device.in, 'r')
    output = openSync(device.out, 'w')
  } catch {
    throw new GuardRefused('no_terminal', 'There is no terminal here to ask at.')
  }
  try {
    writeSync(output, `${question}\nType ${word} to go on, anything else to stop: `)
    if (readLine(input) !== word)
      throw new GuardRefused('not_confirmed', `“${word}” was not typed. Nothing was changed.`)
  } finally {
    closeSync(input)
    closeSync(output)
  }
}

function readLine(input: number): string {
  const buffer = Buffer.alloc(256)
  let text = ''
  while (!text.includes('\n') && text.length < 1024) {
    const count = readSync(input, buffer, 0, buffer.length, null)
    if (count === 0) break
    text += buffer.toString('utf8', 0, count)
  }
  return text.split('\n')[0]!.trim()
}

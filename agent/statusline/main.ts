/**
 * The program that Claude Code starts for its status line: `statusline.cjs [wrap <command in base64url>]`, the client's JSON on
 * standard input. Keeps what it tells of the plan's limits, runs the status line that stood there before, shows what that one
 * printed and a line of our own below it. Nothing that goes wrong here shows more than that line, and nothing is waited for long.
 */
import { spawn } from 'node:child_process'
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import {
  CLAUDE_WINDOWS,
  isRedrawn,
  readStatusInput,
  readStatusSample,
  STATUS_SAMPLE_MAX,
  type StatusFacts,
  type StatusSample,
  statusSampleFile,
} from '#agent/figures/status-sample.ts'
import { statusText } from '#agent/figures/status-text.ts'
import { findHome } from '#agent/hook/home-place.ts'
import { askLoopback } from '#agent/hook/loopback.ts'
import { folderTrouble, socketPlace } from '#agent/hook/socket-place.ts'
import { readRegular } from '#agent/regular-file.ts'

const INPUT_MAX = 1024 * 1024
const INPUT_MS = 2000
/** The client draws anew with each message: what takes longer is said without. */
const DAEMON_MS = 2000
const WRAPPED_MS = 10_000
const OUTPUT_MAX = 64 * 1024
const LINE_MAX = 300

const home = findHome(process.argv[1], process.env)
const wrapped = process.argv[2] === 'wrap' ? Buffer.from(process.argv[3] ?? '', 'base64url').toString('utf8') : ''

function readInput(): Promise<Buffer> {
  return new Promise(resolve => {
    const chunks: Buffer[] = []
    let size = 0
    const finish = () => {
      clearTimeout(timer)
      process.stdin.removeAllListeners().on('error', () => {})
      process.stdin.destroy()
      resolve(Buffer.concat(chunks))
    }
    const timer = setTimeout(finish, INPUT_MS)
    process.stdin.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      size += chunk.length
      if (size > INPUT_MAX) finish()
    })
    process.stdin.on('end', finish).on('error', finish)
  })
}

/** Replaces the sample whole. A line that is only drawn again is no newer than the one before it. */
function keep(sample: StatusSample): void {
  const path = statusSampleFile(home)
  const before = readRegular(path, { maxBytes: STATUS_SAMPLE_MAX, own: true })
  // whatever stands there that is no file of ours is left as it is
  if ('why' in before && before.why === 'other') return
  if ('bytes' in before && isRedrawn(readStatusSample(before.bytes.toString('utf8')), sample)) return
  const temporary = join(dirname(path), `.status-line.${process.pid}.tmp`)
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    writeFileSync(temporary, JSON.stringify(sample), { mode: 0o600, flag: 'wx' })
    renameSync(temporary, path)
  } catch {
    rmSync(temporary, { force: true })
  }
}

/** What the daemon says of the session, over the socket that only this user can open. */
async function askLine(session: string): Promise<string> {
  const place = socketPlace(home)
  if (!place || folderTrouble(place)) throw new Error('no socket')
  const { status, body } = await askLoopback({
    socket: place.path,
    method: 'POST',
    path: '/status-line',
    body: JSON.stringify({ session }),
    timeoutMs: DAEMON_MS,
  })
  if (status !== 200) throw new Error('no line')
  return plain(body)
}

/** Controls of a terminal are no part of our line. */
const plain = (text: string) => text.replace(/[\p{Cc}\p{Cf}]/gu, '').slice(0, LINE_MAX)

function lineWithout({ costUsd, sample }: StatusFacts): string {
  const now = Date.now()
  const windows = Object.entries(sample?.windows ?? {})
    .filter(([, { resetsAt }]) => resetsAt * 1000 > now)
    .map(([name, { used }]) => ({
      name: CLAUDE_WINDOWS[name as keyof typeof CLAUDE_WINDOWS],
      leftPct: Math.max(0, 100 - used),
    }))
  return statusText({
    trouble: 'its daemon does not answer',
    ...(costUsd === undefined ? {} : { costUsd }),
    windows,
    waiting: 0,
    isBound: false,
  })
}

async function ownLine(input: Buffer): Promise<string> {
  const facts = readStatusInput(input.toString('utf8'), Date.now())
  if (!facts) return ''
  if (facts.sample) keep(facts.sample)
  return askLine(facts.session).catch(() => lineWithout(facts))
}

/** What the other status line prints, run by a shell as the client ran it. */
function runWrapped(input: Buffer): Promise<string> {
  if (wrapped === '') return Promise.resolve('')
  return new Promise(resolve => {
    const child = spawn(wrapped, { shell: true, stdio: ['pipe', 'pipe', 'ignore'] })
    let [text, isOver] = ['', false]
    const finish = () => {
      if (isOver) return
      isOver = true
      clearTimeout(timer)
      resolve(text)
    }
    const end = () => {
      child.kill()
      child.stdout.destroy()
      finish()
    }
    const timer = setTimeout(end, WRAPPED_MS)
    // the client has ended this program because there is something newer to draw
    process.once('SIGTERM', () => {
      end()
      process.exit(0)
    })
    child.stdout.setEncoding('utf8').on('data', (part: string) => {
      text += part
      if (text.length > OUTPUT_MAX) end()
    })
    child.on('error', finish).on('close', finish)
    child.stdin.on('error', () => {}).end(input)
  })
}

async function run(): Promise<void> {
  const input = await readInput()
  const [theirs, ours] = await Promise.all([runWrapped(input), ownLine(input).catch(() => '')])
  const lines = [theirs.replace(/\r?\n$/, ''), ours].filter(text => text !== '')
  if (lines.length > 0) process.stdout.write(`${lines.join('\n')}\n`)
}

void run()

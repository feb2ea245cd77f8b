/**
 * The process that a client starts for the events that need a command: `hook.cjs <client> <event> [block]`, the client's JSON
 * on standard input. Hands it to the daemon over its socket and does what the daemon's answer says; when the daemon is down it
 * starts it and leaves the event in the spool. What goes wrong here holds nobody up: at the pause point it ends so that the
 * client lets the call run (see events.ts), unless it was given `block`; for any other event it is exit 0 without a word.
 */
import { existsSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { rememberAgent } from '#agent/guard/seen-agents.ts'
import { readRegular } from '#agent/regular-file.ts'
import { HOOK_BODY_MAX, PAUSE_POINT_MS } from '#core/limits.ts'
import { credentialIn } from './credential.ts'
import { heldHere } from './environment.ts'
import { rolesOf } from './events.ts'
import { findHome } from './home-place.ts'
import { askLoopback, type DoorAddress, type LoopbackAnswer, LoopbackFailure } from './loopback.ts'
import { folderTrouble, socketPlace } from './socket-place.ts'
import { declaredFields, type SpooledAlarm, type SpooledEvent, spool } from './spool.ts'
import { tagPairs } from './tag-pairs.ts'

/** Node's own start has already taken part of the two seconds. */
const DEADLINE_MS = PAUSE_POINT_MS - 500
/** At the pause point the daemon gives up by itself; it must be heard when it does so at the last moment. */
const ANSWER_MS = PAUSE_POINT_MS + 100

const home = findHome(process.argv[1], process.env)
const [client = '', event = '', whenBroken] = process.argv.slice(2)
const roles = rolesOf(client)
const isPausePoint = roles.pause.includes(event)
const isStart = roles.start.includes(event)
/** What its client tells in variables is heard of that client only: another one's may have been started by it. */
const isClaude = client === 'claude-code'
const NOTHING: Record<string, undefined> = {}
const { CLAUDE_CODE_SESSION_ATTENDED, CLAUDE_CODE_ENTRYPOINT } = isClaude ? process.env : NOTHING
/** The client's own process, where it says so. */
const clientPid = isClaude ? process.env.CLAUDE_PID : client === 'opencode' ? process.env.OPENCODE_PID : undefined
/** Not `performance.now()`, whose module costs half a millisecond. */
const nowMs = () => process.uptime() * 1000
const startedMs = nowMs()
const leftMs = () => Math.max(50, DEADLINE_MS - (nowMs() - startedMs))

/** Of an environment that also holds API keys, only these names are read, and those that the signed rules name. */
function originHeaders(): Record<string, string> {
  const tags = isStart ? tagPairs(process.env.HOLDPOINT_TAGS) : ''
  // a prompt as well: rules may have come since the start
  const held = isStart || roles.prompt.includes(event) ? heldHere(home, process.env) : ''
  return {
    'x-holdpoint-event': event.slice(0, 64),
    ...(CLAUDE_CODE_SESSION_ATTENDED ? { 'x-holdpoint-attended': CLAUDE_CODE_SESSION_ATTENDED.slice(0, 8) } : {}),
    ...(CLAUDE_CODE_ENTRYPOINT ? { 'x-holdpoint-entrypoint': CLAUDE_CODE_ENTRYPOINT.slice(0, 64) } : {}),
    ...(clientPid && /^\d{1,10}$/.test(clientPid) ? { 'x-holdpoint-client-pid': clientPid } : {}),
    ...(tags === '' ? {} : { 'x-holdpoint-tags': tags }),
    ...(held === '' ? {} : { 'x-holdpoint-environment': held }),
    ...(isStart && isClaude ? { 'x-holdpoint-credential': credentialIn(process.env) } : {}),
  }
}

const TOO_LARGE = 'the input is larger than allowed'

/**
 * What the client wrote, up to the limit. Read at once from the descriptor: making `process.stdin` costs 4 ms of the few
 * that this process may take. Only a pipe that cannot be waited for is read as a stream.
 */
async function readInput(): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  const take = (chunk: Buffer) => {
    chunks.push(chunk)
    size += chunk.length
    if (size > HOOK_BODY_MAX) throw new Error(TOO_LARGE)
  }
  try {
    for (;;) {
      const buffer = Buffer.allocUnsafe(64 * 1024)
      const count = readSync(0, buffer, 0, buffer.length, null)
      if (count === 0) return Buffer.concat(chunks)
      take(buffer.subarray(0, count))
    }
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code === 'EOF') return Buffer.concat(chunks)
    if (code !== 'EAGAIN') throw error
  }
  const timer = setTimeout(() => process.stdin.destroy(new Error('the input did not end')), leftMs())
  for await (const chunk of process.stdin) take(chunk as Buffer)
  clearTimeout(timer)
  return Buffer.concat(chunks)
}

function readDoor(): { port: number; hookToken: string } | undefined {
  try {
    const kept = readRegular(join(home, 'daemon.json'), { maxBytes: 64 * 1024, own: true })
    if (!('bytes' in kept)) return undefined
    const door = JSON.parse(kept.bytes.toString('utf8')) as { port?: unknown; hookToken?: unknown }
    return typeof door.port === 'number' && typeof door.hookToken === 'string'
      ? { port: door.port, hookToken: door.hookToken }
      : undefined
  } catch {
    return undefined
  }
}

type Found = { at: DoorAddress; headers?: Record<string, string> } | { why: string; isDown: boolean }

/** The daemon's socket; for events that nobody waits for its port will do where there is none (Windows, an older daemon). */
function findDoor(): Found {
  const place = socketPlace(home)
  const trouble = place ? folderTrouble(place) : 'this system has no such sockets'
  if (place && !trouble && (isPausePoint || existsSync(place.path))) return { at: { socket: place.path } }
  if (isPausePoint) return { why: trouble!, isDown: place !== undefined && !existsSync(place.folder) }
  const door = readDoor()
  return door
    ? { at: { port: door.port }, headers: { Authorization: `Bearer ${door.hookToken}` } }
    : { why: 'no daemon', isDown: true }
}

/** A name for a spool file that two hooks at once do not share. */
const unique = () => `${Date.now().toString(36)}-${process.pid}-${Math.random().toString(36).slice(2, 10)}`

function leave(entry: SpooledEvent | SpooledAlarm): void {
  try {
    spool(home, entry, unique())
  } catch {
    // a full disk or a read-only home: nothing more can be done here, and the client must not be held up
  }
}

function leaveEvent(input: Buffer, why: string): void {
  const body = declaredFields(input)
  leave({
    kind: 'hook_event',
    client,
    event,
    at: new Date().toISOString(),
    why,
    headers: originHeaders(),
    ...(body ? { body } : {}),
  })
}

/** The daemon has rendered the answer in the client's own form for a command: this only gives it. */
function giveAnswer({ status, body }: LoopbackAnswer): number {
  const { exit, stdout, stderr } = (status === 200 || isPausePoint ? JSON.parse(body) : {}) as Record<string, unknown>
  if ((exit !== 0 && exit !== 1 && exit !== 2) || typeof stdout !== 'string' || typeof stderr !== 'string')
    throw new Error(`the daemon answered ${status}`)
  // its side failed; what that means to this client stands in the table
  if (exit === 1) return passOn(stderr.trim().slice(0, 300) || 'its daemon failed')
  if (stdout !== '') process.stdout.write(stdout)
  if (stderr !== '') process.stderr.write(stderr)
  return exit
}

/** The client is not held up, unless its hooks were installed to block. The person may see why the call was not judged. */
function passOn(why: string): number {
  if (!isPausePoint) return 0
  const isBlocked = whenBroken === 'block'
  const { exit, says, json } = isBlocked ? roles.refuses : roles.passes
  const then = isBlocked ? ', and its hooks are set to refuse calls until it can' : ''
  const words = `Holdpoint did not judge this call: ${why}${then}.`
  if (says) process.stderr.write(`${words}\n`)
  if (json) process.stdout.write(JSON.stringify(json(words)))
  return exit
}

async function startDaemon(): Promise<void> {
  const { launchDaemon } = await import('./launch.ts')
  launchDaemon(home, process.env)
}

const WORDS = { down: 'its daemon is not running', slow: 'its daemon took too long', odd: 'its daemon cannot be heard' }

async function run(): Promise<number> {
  if (isStart) rememberAgent(home, Number(clientPid))
  const input = await readInput()
  const found = findDoor()
  if ('why' in found) {
    leaveEvent(input, found.why)
    if (found.isDown) await startDaemon()
    return passOn(found.isDown ? WORDS.down : found.why)
  }
  try {
    // a port may be another user's by now, who must not get the token, nor what people write
    if ((isStart || 'port' in found.at) && (await isImpostor(found.at))) {
      leaveEvent(input, 'impostor')
      return 0
    }
    const answer = await askLoopback({
      ...found.at,
      method: 'POST',
      path: `/hook/${encodeURIComponent(client)}`,
      headers: {
        ...found.headers,
        ...originHeaders(),
        'x-holdpoint-form': 'command',
        'x-holdpoint-sent': String(Date.now()),
      },
      body: input,
      timeoutMs: isPausePoint ? ANSWER_MS : leftMs(),
    })
    return giveAnswer(answer)
  } catch (error) {
    if (!(error instanceof LoopbackFailure)) throw error
    leaveEvent(input, error.code)
    if (error.code === 'down') {
      if (isStart) await lookAtPort()
      await startDaemon()
    }
    return passOn(WORDS[error.code])
  }
}

/** Reports a listener that is not the daemon. Loaded only here and below: cryptography costs the other events too much. */
async function isImpostor(at: DoorAddress): Promise<boolean> {
  const { findImpostor } = await import('./listener.ts')
  const why = await findImpostor(home, at, Math.min(500, leftMs()))
  if (why) leave({ kind: 'alarm', what: 'daemon_impostor', at: new Date().toISOString(), why })
  return why !== undefined
}

/** The socket's daemon is gone: its port, where http hooks go, may have been taken by another program. */
async function lookAtPort(): Promise<void> {
  const door = readDoor()
  if (door) await isImpostor({ port: door.port }).catch(() => {})
}

run().then(
  code => {
    process.exitCode = code
  },
  (error: unknown) => {
    const why = error instanceof Error ? error.message.slice(0, 200) : 'unknown'
    leave({ kind: 'alarm', what: 'hook_broken', at: new Date().toISOString(), why: `${client} ${event}: ${why}` })
    process.exitCode = passOn('something here failed')
  },
)

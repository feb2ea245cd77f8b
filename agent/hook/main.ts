/**
 * The process that a client starts for the events that need a command: `hook.cjs <client> <event>`, the client's JSON on
 * standard input. Hands it to the daemon; when the daemon is down it starts it and leaves the event in the spool. Nothing
 * that goes wrong here reaches the client: exit 0 without a word, and the reason in the spool.
 */
import { readSync } from 'node:fs'
import { join } from 'node:path'
import { rememberAgent } from '#agent/guard/seen-agents.ts'
import { readRegular } from '#agent/regular-file.ts'
import { HOOK_BODY_MAX, PAUSE_POINT_MS } from '#core/limits.ts'
import { findHome } from './home-place.ts'
import { askLoopback, type LoopbackAnswer, LoopbackFailure } from './loopback.ts'
import { declaredFields, type SpooledAlarm, type SpooledEvent, spool } from './spool.ts'

/** Node's own start has already taken part of the two seconds. */
const DEADLINE_MS = PAUSE_POINT_MS - 500

const home = findHome(process.argv[1], process.env)
const [client = '', event = ''] = process.argv.slice(2)
const startedMs = performance.now()
const leftMs = () => Math.max(50, DEADLINE_MS - (performance.now() - startedMs))

/** Of an environment that also holds API keys, only these names are read. */
function originHeaders(): Record<string, string> {
  const { CLAUDE_CODE_SESSION_ATTENDED, CLAUDE_CODE_ENTRYPOINT, CLAUDE_PID } = process.env
  return {
    ...(CLAUDE_CODE_SESSION_ATTENDED ? { 'x-holdpoint-attended': CLAUDE_CODE_SESSION_ATTENDED.slice(0, 8) } : {}),
    ...(CLAUDE_CODE_ENTRYPOINT ? { 'x-holdpoint-entrypoint': CLAUDE_CODE_ENTRYPOINT.slice(0, 64) } : {}),
    ...(CLAUDE_PID && /^\d{1,10}$/.test(CLAUDE_PID) ? { 'x-holdpoint-client-pid': CLAUDE_PID } : {}),
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

/** The daemon's http answer in the form that a command gives: a refusal is exit 2 with the reason on standard error. */
function giveAnswer({ status, body }: LoopbackAnswer): number {
  if (status !== 200) throw new Error(`the daemon answered ${status}`)
  if (body.trim() === '') return 0
  const read = JSON.parse(body) as {
    hookSpecificOutput?: { permissionDecision?: unknown; permissionDecisionReason?: unknown }
  }
  if (read.hookSpecificOutput?.permissionDecision === 'deny') {
    process.stderr.write(
      `${String(read.hookSpecificOutput.permissionDecisionReason ?? 'Held by a boundary. Stop here and tell the user.')}\n`,
    )
    return 2
  }
  process.stdout.write(body)
  return 0
}

async function startDaemon(): Promise<void> {
  const { launchDaemon } = await import('./launch.ts')
  launchDaemon(home, process.env)
}

async function run(): Promise<number> {
  if (event === 'SessionStart') rememberAgent(home, Number(process.env.CLAUDE_PID))
  const input = await readInput()
  const door = readDoor()
  if (!door) {
    leaveEvent(input, 'no daemon')
    await startDaemon()
    return 0
  }
  try {
    if (event === 'SessionStart') {
      // loaded only here and below: cryptography and child processes cost the other events what they cannot spare
      const { findImpostor } = await import('./listener.ts')
      const impostor = await findImpostor(home, door.port, Math.min(500, leftMs()))
      if (impostor) {
        leave({ kind: 'alarm', what: 'daemon_impostor', at: new Date().toISOString(), why: impostor })
        leaveEvent(input, 'impostor')
        return 0
      }
    }
    const headers = { Authorization: `Bearer ${door.hookToken}`, ...originHeaders() }
    const path = `/hook/${encodeURIComponent(client)}`
    return giveAnswer(
      await askLoopback({ port: door.port, method: 'POST', path, headers, body: input, timeoutMs: leftMs() }),
    )
  } catch (error) {
    if (!(error instanceof LoopbackFailure)) throw error
    leaveEvent(input, error.code)
    if (error.code === 'down') await startDaemon()
    return 0
  }
}

run().then(
  code => {
    process.exitCode = code
  },
  (error: unknown) => {
    const why = error instanceof Error ? error.message.slice(0, 200) : 'unknown'
    leave({ kind: 'alarm', what: 'hook_broken', at: new Date().toISOString(), why: `${client} ${event}: ${why}` })
    process.exitCode = 0
  },
)

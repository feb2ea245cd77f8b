/** The command's way to the daemon on this machine: the door that needs the owner's token (0600), on loopback. */
import { setTimeout as sleep } from 'node:timers/promises'
import { CommandFailure } from '#agent/commands/exit.ts'
import { type Home, readJson } from '#agent/home.ts'
import { findImpostor } from '#agent/hook/listener.ts'
import { askLoopback, LoopbackFailure } from '#agent/hook/loopback.ts'
import { plainDeep } from '#agent/terminal.ts'
import type { UsageStatus } from '#agent/usage/usage.ts'
import type { Problem } from '#core/boundary/problem.ts'
import type { Level } from '#core/client.ts'

export type DaemonDoor = {
  port: number
  pid: number
  hookToken: string
  apiToken: string
  startedAt: string
  version: string
}

export type StatusRule = {
  name: string
  action: string
  require: string
  stage: string
  scope: string
  fired: number
  sessions: number
  last?: string | null
  levels: { client: string; level: Level; off?: string[]; remedy?: string }[]
  notes: string[]
}
export type StatusClient = {
  client: string
  version?: string
  level: Level
  off?: string[]
  remedy?: string
  undoneBy?: string[]
  limits?: string[]
}
export type DaemonStatus = {
  version: string
  pid: number
  startedAt: string
  team: null | {
    org: { id: string; slug: string; name: string }
    machine: string
    member: { id: string; name: string }
    rules: {
      version: number
      digest?: string
      rootSeq: number
      freshAt?: string
      ageS?: number
      stale: boolean
      lastError?: { code: string; message?: string; at: string }
    }
    pin: 'digest' | 'first use'
  }
  local: { source: 'current' | 'last-good' | 'none'; errors: Problem[]; warnings: Problem[] }
  rules: StatusRule[]
  /** Absent from a daemon that was started before it was updated. */
  clients?: StatusClient[]
  sessions: { client: string; session: string; project: string; unguarded?: Record<string, number> }[]
  notJudged: number
  unguarded: number
  failures: number
  alarms: { what: string; count: number; at: string }[]
  /** Absent from a daemon that was started before it was updated. */
  usage?: UsageStatus
}

/** Where hooks go: the port and token that the daemon keeps over restarts; undefined when it never ran here. */
export function readHookDoor(home: Home): Pick<DaemonDoor, 'port' | 'hookToken'> | undefined {
  const kept = readJson<DaemonDoor>(home.tokens)
  return kept && typeof kept.port === 'number' && typeof kept.hookToken === 'string' ? kept : undefined
}

/** Where the daemon listens, as it wrote it at its start; undefined when it has ended or never ran here. */
export function readDaemonDoor(home: Home): DaemonDoor | undefined {
  const door = readJson<DaemonDoor>(home.daemon)
  return door &&
    typeof door.port === 'number' &&
    typeof door.apiToken === 'string' &&
    typeof door.hookToken === 'string'
    ? door
    : undefined
}

const daemonMissing = () =>
  new CommandFailure(
    'missing',
    'daemon_missing',
    'The daemon is not running, so nothing is judged or recorded.',
    'Start it with `holdpoint daemon start`.',
  )

/**
 * Asks the daemon. Texts in its answer are cleaned: part of them came over the network.
 * @throws CommandFailure `daemon_missing`, `daemon_slow`, or what the daemon refused
 */
export async function askDaemon<T>(
  home: Home,
  method: 'GET' | 'POST',
  path: string,
  body?: unknown,
  timeoutMs = 5000,
): Promise<T> {
  const text = await askForText(home, method, path, body, timeoutMs)
  try {
    return plainDeep(JSON.parse(text === '' ? 'null' : text) as T)
  } catch {
    throw new CommandFailure(
      'failed',
      'daemon_odd',
      'What listens on the daemon’s port does not answer as the daemon does.',
      'Look at `holdpoint daemon status`.',
    )
  }
}

/** The same, with the answer's exact bytes: for what is none but this machine's own. */
export async function askForText(
  home: Home,
  method: 'GET' | 'POST',
  path: string,
  body: unknown,
  timeoutMs: number,
): Promise<string> {
  const door = readDaemonDoor(home)
  if (!door) throw daemonMissing()
  const headers = { Authorization: `Bearer ${door.apiToken}` }
  try {
    await proveOnce(home, door.port)
    const answer = await askLoopback({
      port: door.port,
      method,
      path,
      headers,
      timeoutMs,
      ...(method === 'POST' ? { body: JSON.stringify(body ?? {}) } : {}),
    })
    if (answer.status >= 200 && answer.status < 300) return answer.body
    throw refusal(answer.status, answer.body)
  } catch (error) {
    if (!(error instanceof LoopbackFailure)) throw error
    if (error.code === 'down') throw daemonMissing()
    throw new CommandFailure(
      'failed',
      `daemon_${error.code}`,
      `The daemon did not answer as it should: ${error.message}.`,
      'Look at `holdpoint daemon status` and at daemon.log.',
    )
  }
}

let proved: number | undefined

/** The token goes to no one but the daemon: after a crash another program may sit on its port. Once per command. */
async function proveOnce(home: Home, port: number): Promise<void> {
  if (proved === port) return
  const impostor = await findImpostor(home.root, { port }, 2000)
  if (impostor) {
    throw new CommandFailure(
      'failed',
      'daemon_impostor',
      `Another program sits on the daemon’s port ${port}: ${impostor}. Agents’ calls go there and run unjudged.`,
      'End that program, then `holdpoint daemon start`.',
    )
  }
  proved = port
}

/**
 * Waits until a running daemon has noticed that this machine joined (`machine`) or left (undefined), and has rules at least
 * as new as those fetched meanwhile. False when it has not in time; true as well when none runs.
 */
export async function waitForDaemonToKnow(home: Home, machine: string | undefined, rulesVersion = 0): Promise<boolean> {
  for (const until = Date.now() + 4000; Date.now() < until; await sleep(100)) {
    try {
      const { team } = await askDaemon<DaemonStatus>(home, 'GET', '/api/status', undefined, 1000)
      if (team?.machine === machine && (team?.rules.version ?? 0) >= rulesVersion) return true
    } catch (error) {
      if (error instanceof CommandFailure && error.code === 'daemon_missing') return true
    }
  }
  return false
}

function refusal(status: number, body: string): CommandFailure {
  let said: { error?: { code?: unknown; message?: unknown; remedy?: unknown } } = {}
  try {
    said = plainDeep(JSON.parse(body)) as typeof said
  } catch {
    // not the daemon's form: the status alone tells
  }
  const { code, message, remedy } = said.error ?? {}
  return new CommandFailure(
    status === 404 ? 'missing' : 'failed',
    typeof code === 'string' ? code : `daemon_${status}`,
    typeof message === 'string' ? message : `The daemon answered ${status}.`,
    typeof remedy === 'string' ? remedy : undefined,
  )
}

import { statSync } from 'node:fs'
import { join as joinPath } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { DaemonRefused } from '#agent/daemon/lock.ts'
import { runDaemon } from '#agent/daemon/main.ts'
import { askDaemon, type DaemonStatus, readDaemonDoor } from '#agent/daemon-client.ts'
import { desktopOf } from '#agent/desk/notices.ts'
import { checkPerson, confirmWord } from '#agent/guard/person.ts'
import { type Home, readBytes, remove } from '#agent/home.ts'
import { launchDaemon } from '#agent/hook/launch.ts'
import { count, localTime, plain, span } from '#agent/terminal.ts'
import { clientName } from './boundaries.ts'
import { alarmWords, revokedLine } from './code-words.ts'
import type { Command } from './command.ts'
import { CommandFailure, EXIT } from './exit.ts'
import { unguardedSessions } from './unguarded.ts'
import { readingWords, telemetryWords } from './usage-words.ts'
import { VERSION } from './version.ts'

const START_MS = 8000
const STOP_MS = 8000
/** A log begins anew before it is larger. */
const LOG_READ_MAX = 16 * 1024 * 1024

export const daemonRun: Command = {
  name: 'daemon',
  summary: 'run the daemon in the foreground',
  about:
    'Judges what agents do, keeps the journal, fetches the organisation’s rules and answers, and sends the report. It runs until it is ended; Ctrl-C lets it finish. Use `holdpoint daemon start` to have it in the background.',
  examples: [['holdpoint daemon', 'in a terminal of its own, or from a service manager']],
  async run({ home, terminal }) {
    let daemon: Awaited<ReturnType<typeof runDaemon>>
    try {
      daemon = await runDaemon({ home, version: VERSION, desk: desktopOf(process.env, home) })
    } catch (error) {
      if (error instanceof DaemonRefused) throw new CommandFailure('failed', error.code, error.message)
      throw error
    }
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void daemon.stop())
    terminal.line(`The daemon of ${home.root} listens on 127.0.0.1:${daemon.port} (process ${process.pid}).`)
    await daemon.stopped
    return EXIT.ok
  },
}

export const daemonStart: Command = {
  name: 'daemon start',
  summary: 'start the daemon in the background',
  about:
    'Starts the daemon on its own and waits until it answers. Running already is fine. Agents’ hooks start it as well, at a session’s start and with each prompt.',
  examples: [['holdpoint daemon start', 'start it now']],
  async run({ home, json, terminal }) {
    const running = await statusOrNothing(home)
    const status = running ?? (await startDaemon(home))
    if (json)
      terminal.json({ started: !running, pid: status.pid, version: status.version, startedAt: status.startedAt })
    else
      terminal.line(
        running ? `The daemon runs already (process ${status.pid}).` : `The daemon runs (process ${status.pid}).`,
      )
    return EXIT.ok
  },
}

/** Starts the installed daemon and waits for its first answer. @throws CommandFailure */
export async function startDaemon(home: Home): Promise<DaemonStatus> {
  // a person's start does not wait for an earlier one that failed
  const mark = joinPath(home.root, 'daemon.starting')
  remove(mark)
  const saidBefore = sizeOf(home.log)
  try {
    launchDaemon(home.root, process.env)
  } catch {
    throw new CommandFailure(
      'missing',
      'not_installed',
      `There is no program to start in ${home.bin}.`,
      'Install it: `node holdpoint.cjs install`.',
    )
  }
  for (const until = Date.now() + START_MS; Date.now() < until; ) {
    await sleep(60)
    const status = await statusOrNothing(home)
    if (!status) {
      const said = saidSince(home, saidBefore)
      // of two starts at once one gives way: the other one answers in a moment
      if (said && GAVE_UP.test(said) && !said.includes('already running')) throw didNotStart(home, said)
      continue
    }
    // it runs: should it die, the next hook need not wait
    remove(mark)
    return status
  }
  throw didNotStart(home, saidSince(home, saidBefore))
}

/** The line that a daemon that gave up ends with. */
const GAVE_UP = /^holdpoint: /
/** The newest line that a start has left; older lines are of earlier starts and say nothing about this one. */
function saidSince({ log }: Home, before: number): string | undefined {
  const text = readBytes(log, LOG_READ_MAX)
  if (!text) return undefined
  const lines = text
    .subarray(text.length >= before ? before : 0)
    .toString('utf8')
    .trim()
    .split('\n')
  return lines.findLast(line => GAVE_UP.test(line)) ?? lines.at(-1)
}

function didNotStart(home: Home, said: string | undefined): CommandFailure {
  return new CommandFailure(
    'failed',
    'daemon_did_not_start',
    said
      ? `The daemon did not start: ${plain(said.replace(GAVE_UP, '').replace(/^\d{4}-\S+Z /, ''), 400)}`
      : 'The daemon was started but does not answer, and has said nothing.',
    `More may stand in ${home.log}; \`holdpoint daemon\` runs it in this terminal.`,
  )
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

/** The daemon's status; undefined when it is down. */
export async function statusOrNothing(home: Home): Promise<DaemonStatus | undefined> {
  try {
    return await askDaemon<DaemonStatus>(home, 'GET', '/api/status', undefined, 2000)
  } catch (error) {
    if (error instanceof CommandFailure && error.code === 'daemon_missing') return undefined
    throw error
  }
}

export const LOST_WHILE_DOWN = [
  'While the daemon is down:',
  '  agents’ calls run unjudged: no rule holds them, and no spending limit stops them;',
  '  nothing is asked or answered: requests are not sent, approvals and new rules do not arrive;',
  '  nothing is reported. The calls are found afterwards, and an organisation that was joined sees how many.',
  'An agent’s next session start or prompt starts it again.',
].join('\n')

export const daemonStop: Command = {
  name: 'daemon stop',
  summary: 'stop the daemon (a person at a terminal only)',
  about:
    'Asks the daemon to finish and end. While it is down agents’ calls are not judged; the daemon finds them afterwards and your organisation sees them. ' +
    'An agent’s next session start or prompt starts it again.',
  examples: [['holdpoint daemon stop', 'asks for the word “stop”']],
  async run({ home, json, terminal }) {
    const status = await statusOrNothing(home)
    if (!status) {
      if (json) terminal.json({ stopped: false })
      else terminal.line('The daemon is not running.')
      return EXIT.ok
    }
    const person = checkPerson(home.root)
    confirmWord(LOST_WHILE_DOWN, 'stop')
    await stopDaemon(home, person)
    if (json) terminal.json({ stopped: true })
    else terminal.line('The daemon has stopped.')
    return EXIT.ok
  },
}

/** Asks the daemon to end for a person who was checked, and waits until it has. @throws CommandFailure */
export async function stopDaemon(home: Home, { pid, tty }: { pid: number; tty: string }): Promise<void> {
  await askDaemon(home, 'POST', '/api/stop', { pid, tty, at: new Date().toISOString() })
  if (await hasStopped(home)) return
  throw new CommandFailure('failed', 'daemon_did_not_stop', 'The daemon still answers.', `Look at ${home.log}.`)
}

/** Waits until nobody listens any more; a connection that breaks off on the way is part of stopping. */
async function hasStopped(home: Home): Promise<boolean> {
  for (const until = Date.now() + STOP_MS; Date.now() < until; await sleep(60)) {
    const gone = await statusOrNothing(home).then(
      status => status === undefined,
      () => false,
    )
    if (gone) return true
  }
  return false
}

export const daemonStatus: Command = {
  name: 'daemon status',
  summary: 'say whether the daemon runs, since when, and what it missed',
  about:
    'Says whether the daemon answers, and what it has found: calls that nobody judged, alarms. Exit code 4 when it is down.',
  examples: [['holdpoint daemon status --json', 'for a monitor']],
  async run({ home, json, terminal }) {
    const status = await statusOrNothing(home)
    const door = readDaemonDoor(home)
    if (json)
      terminal.json(
        status ? { running: true, ...status } : { running: false, ...(door ? { lastStartedAt: door.startedAt } : {}) },
      )
    else if (status) {
      terminal.line(
        `The daemon runs: process ${status.pid}, version ${status.version}, since ${localTime(status.startedAt)} (${span((Date.now() - Date.parse(status.startedAt)) / 1000)}).`,
      )
      const revoked = revokedLine(status)
      if (revoked) terminal.line(terminal.paint('red', revoked))
      printTroubles(status, text => terminal.line(text))
    } else {
      terminal.line(
        `The daemon is not running${door ? ` (last started ${localTime(door.startedAt)})` : ''}. Agents’ calls are not judged.`,
      )
      terminal.line('Start it with `holdpoint daemon start`.')
    }
    return status ? EXIT.ok : EXIT.missing
  },
}

/** Sessions that are named one by one; of more only the number is said. */
const SESSIONS_NAMED = 10

/** What the daemon found out of order, one line each. */
function printTroubles(status: DaemonStatus, line: (text: string) => void): void {
  const { notJudged, failures, alarms } = status
  if (notJudged > 0)
    line(
      `${count(notJudged, 'call')} ran here without a decision: the daemon was down, or the hooks were off or elsewhere.`,
    )
  const unguarded = unguardedSessions(status)
  for (const { client, session, project, days } of unguarded.slice(0, SESSIONS_NAMED)) {
    const when = days.map(([day, calls]) => `${calls} on ${day}`).join(', ')
    line(`  ${clientName(client)}, session ${session} in ${project}: ${when}`)
  }
  if (unguarded.length > SESSIONS_NAMED) line(`  and ${count(unguarded.length - SESSIONS_NAMED, 'more session')}`)
  if (failures > 0) line(`${count(failures, 'call')} let through because something here failed.`)
  for (const { what, count: times, at } of alarms)
    line(`Alarm: ${alarmWords(what)} (${count(times, 'time')}, last ${localTime(at)}).`)
  // what is sent of it is the organisation's business: see `team status`
  const { usage } = status
  if (usage) for (const [, text] of readingWords(usage)) line(`Usage: ${text}.`)
  if (usage) for (const [, text] of telemetryWords(usage)) line(`Telemetry: ${text}.`)
}

/** Starts the daemon on its own, away from whoever asked for it. Used by hooks and by `holdpoint daemon start`. */
import { spawn } from 'node:child_process'
import { closeSync, mkdirSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openToAppend } from '#agent/regular-file.ts'
import { CLIENT_PLACES, withClientPlace } from './client-place.ts'

/**
 * What the daemon may inherit. An agent's environment holds API keys, and what a project's settings plant there
 * (NODE_OPTIONS, proxies) must not reach a process that outlives the session.
 */
const INHERITED = [
  ...CLIENT_PLACES,
  'PATH',
  'USER',
  'LOGNAME',
  'LANG',
  'LC_ALL',
  'TZ',
  'TMPDIR',
  'TEMP',
  'TMP',
  'SystemRoot',
  'XDG_RUNTIME_DIR',
] as const

/** Two hooks at once start one daemon; a failed start may be tried again after this. */
const START_EVERY_MS = 5000

/** Starts `<home>/bin/holdpoint.cjs daemon` detached; false when a start was tried a moment ago. */
export function launchDaemon(
  home: string,
  env: Readonly<Record<string, string | undefined>>,
  program = join(home, 'bin', 'holdpoint.cjs'),
): boolean {
  if (!claimStart(home)) return false
  statSync(program)
  const log = openLog(join(home, 'daemon.log'))
  try {
    const given = withClientPlace(home, env)
    const kept = Object.fromEntries(
      INHERITED.map(name => [name, given[name]]).filter(([, value]) => value !== undefined),
    )
    const child = spawn(process.execPath, [program, 'daemon'], {
      cwd: home,
      detached: true,
      stdio: ['ignore', log ?? 'ignore', log ?? 'ignore'],
      env: { ...kept, HOLDPOINT_HOME: home },
      windowsHide: true,
    })
    child.on('error', () => {})
    child.unref()
    return true
  } finally {
    if (log !== undefined) closeSync(log)
  }
}

/** A log that cannot be written keeps nobody from starting. */
function openLog(path: string): number | undefined {
  try {
    return openToAppend(path)
  } catch {
    return undefined
  }
}

function claimStart(home: string): boolean {
  const mark = join(home, 'daemon.starting')
  mkdirSync(home, { recursive: true, mode: 0o700 })
  const now = new Date()
  try {
    writeFileSync(mark, '', { flag: 'wx', mode: 0o600 })
    return true
  } catch {
    if (now.getTime() - statSync(mark).mtimeMs < START_EVERY_MS) return false
    utimesSync(mark, now, now)
    return true
  }
}

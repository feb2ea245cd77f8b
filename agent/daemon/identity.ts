import { closeSync, fstatSync, ftruncateSync, writeSync } from 'node:fs'
import { userInfo } from 'node:os'
import { random } from '#agent/crypto.ts'
import { ensureDir, type Home, readBytes, readJson, writeAtomic } from '#agent/home.ts'
import { openToAppend } from '#agent/regular-file.ts'
import { base64url } from '#core/bytes.ts'
import { DaemonRefused } from './lock.ts'

const LOG_MAX = 4 * 1024 * 1024

/** Tokens of the door; they and the port stay the same over restarts. `since`: the first start of all. */
export type Tokens = { port: number; hookToken: string; apiToken: string; since: string }

/** The machine's secret; made at the first start. @throws DaemonRefused where it can be neither read nor written */
export function readSecret(home: Home): Uint8Array {
  const kept = readBytes(home.secret)
  if (kept?.length === 32) return kept
  const made = random(32)
  try {
    writeAtomic(home, home.secret, made)
  } catch (error) {
    throw new DaemonRefused(
      'no_home',
      `${home.root} cannot be written (${(error as NodeJS.ErrnoException).code ?? 'unknown'}), and nothing is there yet to start from.`,
    )
  }
  return made
}

/** Port and tokens as they were, or new ones. Writes nothing. */
export function readTokens(home: Home, now: () => number): Tokens {
  const kept = readJson<Partial<Tokens>>(home.tokens) ?? {}
  const port = Number.isInteger(kept.port) && kept.port! > 0 && kept.port! < 65536 ? kept.port! : 0
  const token = (given: unknown) => (typeof given === 'string' && given.length >= 40 ? given : base64url(random(32)))
  return {
    port,
    hookToken: token(kept.hookToken),
    apiToken: token(kept.apiToken),
    since: typeof kept.since === 'string' ? kept.since : new Date(now()).toISOString(),
  }
}

/** The user of this machine; stays on it. */
export function userName(): string {
  try {
    return userInfo().username
  } catch {
    return 'unknown'
  }
}

/** One line per event, for a person; a log that grows too large begins anew. */
export function logTo(home: Home, now: () => number): (line: string) => void {
  return line => {
    try {
      ensureDir(home.root)
      const fd = openToAppend(home.log)
      try {
        if (fstatSync(fd).size > LOG_MAX) ftruncateSync(fd, 0)
        writeSync(fd, `${new Date(now()).toISOString()} ${line.replace(/\n/g, '\n  ')}\n`)
      } finally {
        closeSync(fd)
      }
    } catch {
      // a log is the least of what a full disk costs
    }
  }
}

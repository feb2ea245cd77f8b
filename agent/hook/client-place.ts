/**
 * Where the agent programs of this machine's developer keep their things, and whose certificates are trusted beside the
 * system's, as it was where the hooks were installed. A hook starts the daemon with its own environment, in which a project's
 * settings can plant others: the daemon would look for records elsewhere, find none, and know no session's cost nor what it
 * used; or it would give this machine's token to whoever answers in the control plane's name. For the process that a client starts: built-in
 * modules only.
 */
import { join } from 'node:path'
import { readRegular } from '#agent/regular-file.ts'

type Env = Readonly<Record<string, string | undefined>>

/** The variables that say it. One that was not set then is not set for the daemon either. */
export const CLIENT_PLACES = [
  'HOME',
  'USERPROFILE',
  'CLAUDE_CONFIG_DIR',
  'CODEX_HOME',
  'COPILOT_HOME',
  'GEMINI_CLI_HOME',
  'OPENCODE_DB',
  'XDG_DATA_HOME',
  'XDG_CONFIG_HOME',
  'NODE_EXTRA_CA_CERTS',
] as const
const FILE_MAX = 64 * 1024

export const clientPlaceFile = (home: string): string => join(home, 'client-place.json')

/** What is kept of the environment of an install. */
export const clientPlaceOf = (env: Env): Record<string, string> =>
  Object.fromEntries(CLIENT_PLACES.flatMap(name => (env[name] ? [[name, env[name]]] : [])))

/** An environment with the places of the install in it; as it is where nothing was kept, or nothing that can be read. */
export function withClientPlace(home: string, env: Env): Env {
  const read = readRegular(clientPlaceFile(home), { maxBytes: FILE_MAX, own: true })
  if (!('bytes' in read)) return env
  try {
    const kept = JSON.parse(read.bytes.toString('utf8')) as Record<string, unknown> | null
    if (typeof kept !== 'object' || kept === null) return env
    const places = CLIENT_PLACES.map(name => [name, typeof kept[name] === 'string' ? kept[name] : undefined] as const)
    return { ...env, ...Object.fromEntries(places) }
  } catch {
    return env
  }
}

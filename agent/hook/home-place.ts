/** Where this machine's files are. For the process that a client starts: built-in modules only. */
import { homedir } from 'node:os'
import { basename, dirname, join } from 'node:path'

/**
 * An installed program knows its home from where it lies (`<home>/bin/hook.cjs`). That comes before HOLDPOINT_HOME, which a
 * project's own settings could plant in a client's environment to send its hooks elsewhere.
 */
export function findHome(program: string | undefined, env: Readonly<Record<string, string | undefined>>): string {
  if (program && basename(dirname(program)) === 'bin') return dirname(dirname(program))
  return env.HOLDPOINT_HOME || join(homedir(), '.holdpoint')
}

/** Where this machine's files are. For the process that a client starts: built-in modules only. */
import { homedir, userInfo } from 'node:os'
import { basename, dirname, join } from 'node:path'

/** Where an administrator's hooks have the program. Not in a folder `bin`: it is of no one home. */
export const MANAGED_PROGRAM = '/etc/holdpoint/holdpoint-hook.cjs'

/**
 * An installed program knows its home from where it lies (`<home>/bin/hook.cjs`). That comes before HOLDPOINT_HOME, which a
 * project's own settings could plant in a client's environment to send its hooks elsewhere.
 */
export function findHome(program: string | undefined, env: Readonly<Record<string, string | undefined>>): string {
  // one for every user of the machine: whose it is, the system's list of users says, and nothing that a project can plant
  if (program === MANAGED_PROGRAM) return join(userInfo().homedir, '.holdpoint')
  if (program && basename(dirname(program)) === 'bin') return dirname(dirname(program))
  return env.HOLDPOINT_HOME || join(homedir(), '.holdpoint')
}

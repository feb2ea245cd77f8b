/** Where opencode keeps its records. */
import { basename, isAbsolute, join } from 'node:path'
import type { ClientHome } from '#agent/clients/client-home.ts'
import { namesIn } from '#agent/clients/record-file.ts'

/** One database for each channel that a build of the client is of. */
const DATABASE = /^opencode(?:-[A-Za-z0-9._-]{1,80})?\.db$/
const DATABASES_MAX = 8

/** The client's own folder: the same on every system. */
export const dataFolder = ({ homeDir, env }: ClientHome): string =>
  join(env.XDG_DATA_HOME || join(homeDir, '.local', 'share'), 'opencode')

/** The databases there are, by their names; the one that OPENCODE_DB names first. */
export function databasesOf(home: ClientHome): string[] {
  const folder = dataFolder(home)
  const named = home.env.OPENCODE_DB
  const chosen = named && named !== ':memory:' ? [isAbsolute(named) ? named : join(folder, named)] : []
  const found = namesIn(folder)
    .filter(name => DATABASE.test(name))
    .sort()
    .map(name => join(folder, name))
  return [...new Set([...chosen, ...found])].slice(0, DATABASES_MAX)
}

/** What a place's marks are kept under. */
export const nameOf = (path: string): string => basename(path)

/** Where versions before the database kept a file for each message. */
export const storageFolder = (home: ClientHome): string => join(dataFolder(home), 'storage')

import { readFileSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** Folders above a working directory that are looked at for a repository. */
const DEPTH_MAX = 40
const CONFIG_MAX = 256 * 1024

const known = new Map<string, string>()

/**
 * The project of a working directory: the repository's name, else the directory's. The name is the last part of
 * the remote called `origin`, or of the repository's folder. Cached: a session stays where it is.
 */
export function projectOf(cwd: string): string {
  let project = known.get(cwd)
  if (project === undefined) {
    project = clean(repositoryName(cwd) ?? basename(cwd)) || 'unknown'
    if (known.size > 1000) known.clear()
    known.set(cwd, project)
  }
  return project
}

/** `:` separates the parts of an attribution, `*` is the wildcard: neither may come in by a folder's name. */
const clean = (name: string) => name.replace(/[:*\u0000-\u001f\u007f]/g, '-').slice(0, 100)

function repositoryName(cwd: string): string | undefined {
  let folder = cwd
  for (let i = 0; i < DEPTH_MAX; i++) {
    const git = join(folder, '.git')
    const stat = statSync(git, { throwIfNoEntry: false })
    if (stat) return originName(stat.isDirectory() ? join(git, 'config') : undefined) ?? basename(folder)
    const above = dirname(folder)
    if (above === folder) return undefined
    folder = above
  }
  return undefined
}

function originName(config: string | undefined): string | undefined {
  if (!config) return undefined
  try {
    if (!statSync(config).isFile() || statSync(config).size > CONFIG_MAX) return undefined
    const section = /\[remote "origin"\]([^[]*)/.exec(readFileSync(config, 'utf8'))?.[1] ?? ''
    const url = /^\s*url\s*=\s*(\S+)\s*$/m.exec(section)?.[1]
    return url === undefined ? undefined : /([^/:]+?)(?:\.git)?\/?$/.exec(url)?.[1]
  } catch {
    return undefined
  }
}

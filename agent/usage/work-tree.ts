/** What a working folder says about whom its work belongs to: its repository's names, and the file `.holdpoint.yaml`. */
import { lstatSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'
import { type ReadProblem, readRegular } from '#agent/regular-file.ts'
import type { Problem } from '#core/boundary/problem.ts'
import { parseRepositoryFile, REPOSITORY_FILE } from '#core/usage/tag-text.ts'
import { NO_TAGS, type Tags } from '#core/usage/tags.ts'

/** Folders above a working folder that are looked at. */
const DEPTH_MAX = 40
const GIT_FILE_MAX = 256 * 1024
const TAG_FILE_MAX = 64 * 1024

export type Repository = {
  root: string
  /** `billing-api`, and where there is a remote `acme/billing-api`, `github.com/acme/billing-api`. */
  names: string[]
}

/** The repository that holds a folder; undefined when none does. Follows no link and reads no more than git's own small files. */
export function repositoryOf(cwd: string): Repository | undefined {
  let folder = cwd
  for (let i = 0; i < DEPTH_MAX && isAbsolute(folder); i++) {
    const git = join(folder, '.git')
    const stat = lstatSync(git, { throwIfNoEntry: false })
    if (stat?.isDirectory() || stat?.isFile()) {
      const config = stat.isDirectory() ? join(git, 'config') : configOfWorktree(git, folder)
      const names = config === undefined ? [] : namesOfRemote(read(config, GIT_FILE_MAX) ?? '')
      return { root: folder, names: names.length > 0 ? names : [basename(folder)] }
    }
    const above = dirname(folder)
    if (above === folder) return undefined
    folder = above
  }
  return undefined
}

/** A worktree has a file that names a folder within the repository's own `.git`. */
function configOfWorktree(file: string, folder: string): string | undefined {
  const gitDir = /^gitdir: (.+)$/m.exec(read(file, 4096) ?? '')?.[1]?.trim()
  if (gitDir === undefined) return undefined
  const at = resolve(folder, gitDir)
  const common = read(join(at, 'commondir'), 4096)?.trim()
  return join(common === undefined ? at : resolve(at, common), 'config')
}

/** `git@github.com:acme/billing-api.git` as its last part, its path, and its host and path. Never what stands before an @. */
export function namesOfRemote(config: string): string[] {
  const section = /\[remote "origin"\]([^[]*)/.exec(config)?.[1] ?? ''
  const url = /^\s*url\s*=\s*(\S+)\s*$/m.exec(section)?.[1]
  if (url === undefined) return []
  const [, host = '', path = ''] =
    /^[a-z+]+:\/\/(?:[^/@]*@)?([^/:]*)(?::\d+)?\/(.*)$/i.exec(url) ?? /^(?:[^/@]*@)?([^/:]+):(.*)$/.exec(url) ?? []
  const clean = (host === '' ? url : path)
    .replace(/\/+$/, '')
    .replace(/\.git$/, '')
    .replace(/^\/+/, '')
  const last = clean.slice(clean.lastIndexOf('/') + 1)
  if (last === '') return []
  return host === '' ? [last] : [...new Set([last, clean, `${host.toLowerCase()}/${clean}`])]
}

export type RepositoryTags = { file: string; tags: Tags; errors: Problem[]; warnings: Problem[] }

/** The tags that a session's folder or its repository's root gives, the folder's own first; undefined where neither has the file. */
export function repositoryTags(cwd: string, root: string | undefined): RepositoryTags | undefined {
  for (const folder of root === undefined || root === cwd ? [cwd] : [cwd, root]) {
    if (!isAbsolute(folder)) continue
    const file = join(folder, REPOSITORY_FILE)
    const found = readRegular(file, { maxBytes: TAG_FILE_MAX })
    if ('bytes' in found) return { file, ...parseRepositoryFile(found.bytes.toString('utf8')) }
    if (found.why === 'absent') continue
    return { file, tags: NO_TAGS, errors: [unreadable(found.why)], warnings: [] }
  }
  return undefined
}

function unreadable(why: ReadProblem): Problem {
  const place = { line: 1, column: 1 }
  if (why === 'too_large')
    return { ...place, code: 'too_large', message: 'the file is larger than 64 KiB', remedy: 'keep only tags: in it' }
  const message = why === 'other' ? 'it is a link, or no regular file' : 'the file cannot be read'
  return { ...place, code: 'wrong_kind', message, remedy: 'make it a regular file that you may read' }
}

function read(path: string, maxBytes: number): string | undefined {
  const found = readRegular(path, { maxBytes })
  return 'bytes' in found ? found.bytes.toString('utf8') : undefined
}

import { basename } from 'node:path'
import { repositoryOf } from '#agent/usage/work-tree.ts'

const known = new Map<string, string>()

/** The project of a working directory: its repository's name, else the directory's. Cached: a session stays where it is. */
export function projectOf(cwd: string): string {
  let project = known.get(cwd)
  if (project === undefined) {
    project = clean(repositoryOf(cwd)?.names[0] ?? basename(cwd)) || 'unknown'
    if (known.size > 1000) known.clear()
    known.set(cwd, project)
  }
  return project
}

/** `:` separates the parts of an attribution, `*` is the wildcard: neither may come in by a folder's name. */
const clean = (name: string) => name.replace(/[:*\u0000-\u001f\u007f]/g, '-').slice(0, 100)

/** Which working folder a chat belongs to: the client records a digest of its path, and keeps the path beside it. */
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { isObject, pathOf } from '#agent/clients/json-lines.ts'
import { readHead } from '#agent/clients/record-file.ts'

const REGISTRY_MAX = 1024 * 1024
const PATH_MAX = 8192
const DIGEST = /^[0-9a-f]{64}$/

const digestOf = (path: string) => createHash('sha256').update(path).digest('hex')

/**
 * The folder's path, as its marker file or the client's list of projects names it; undefined when neither does.
 * `settings`: the client's own folder, `root`: its `tmp`. `projectHash`: as the chat's head records it; what does not fit it is not taken.
 */
export function projectFolder(
  settings: string,
  root: string,
  folder: string,
  projectHash: string | undefined,
): string | undefined {
  const marked = pathOf(textOf(join(root, folder, '.project_root'), PATH_MAX)?.trim())
  const expected = projectHash ?? (DIGEST.test(folder) ? folder : undefined)
  if (expected === undefined) return marked
  if (marked !== undefined && digestOf(marked) === expected) return marked
  return Object.keys(registry(settings)).find(path => digestOf(path) === expected)
}

/** `projects.json`: path → the name of its folder. */
function registry(settings: string): Record<string, unknown> {
  try {
    const read: unknown = JSON.parse(textOf(join(settings, 'projects.json'), REGISTRY_MAX) ?? '')
    return isObject(read) && isObject(read.projects) ? read.projects : {}
  } catch {
    return {}
  }
}

function textOf(file: string, maxBytes: number): string | undefined {
  try {
    return readHead(file, maxBytes)
  } catch {
    return undefined
  }
}

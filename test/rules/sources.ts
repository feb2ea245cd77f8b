import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { root } from '#server/boot/environment.mjs'

/** Files of the project that git knows or would take: what a reader of the repository sees. */
export function projectFiles(): string[] {
  const list = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  })
  return [...new Set(list.split('\0'))].filter(file => file && existsSync(path.join(root, file))).sort()
}

export function isSource(file: string): boolean {
  return /\.(ts|tsx|mjs)$/.test(file) && !file.endsWith('.d.ts')
}

/** Path in the project → text. */
export type Sources = Map<string, string>

export function readSources(files = projectFiles().filter(isSource)): Sources {
  return new Map(files.map(file => [file, readFileSync(path.join(root, file), 'utf8')]))
}

/** The text without its comments; strings are kept, so that an address in one does not start a comment. */
export function withoutComments(text: string): string {
  const token = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g
  return text.replace(token, found => (found.startsWith('/*') || found.startsWith('//') ? ' ' : found))
}

export type Import = {
  /** A project's path (`core/id.ts`), `node:fs`, or `npm:` and what was named. */
  target: string
  typeOnly: boolean
}

const STATIC = /^[ \t]*(?:import|export)\s+(type\s+)?(?:[\w\s{},*$]*?\sfrom\s*)?['"]([^'"\n]+)['"]/gm
const DYNAMIC = /\b(?:import|require|import\.meta\.resolve)\(\s*['"]([^'"\n]+)['"]\s*\)/g

/** What a file imports, the dynamic ones included. */
export function importsOf(file: string, text: string): Import[] {
  const code = withoutComments(text)
  const found: Import[] = []
  for (const [, type, specifier] of code.matchAll(STATIC))
    found.push({ target: resolve(file, specifier!), typeOnly: !!type })
  for (const [, specifier] of code.matchAll(DYNAMIC)) found.push({ target: resolve(file, specifier!), typeOnly: false })
  return found
}

function resolve(from: string, specifier: string): string {
  if (specifier.startsWith('#')) return specifier.slice(1)
  if (specifier.startsWith('.')) return path.posix.join(path.posix.dirname(from), specifier)
  if (specifier.startsWith('node:')) return specifier
  return `npm:${specifier}`
}

export type Graph = Map<string, Import[]>

export function graphOf(sources: Sources): Graph {
  return new Map([...sources].map(([file, text]) => [file, importsOf(file, text)]))
}

/** Everything a file reaches by value, itself included. */
export function reachedFrom(graph: Graph, entry: string): Set<string> {
  const seen = new Set([entry])
  for (const file of seen) {
    for (const { target, typeOnly } of graph.get(file) ?? []) if (!typeOnly) seen.add(target)
  }
  return seen
}

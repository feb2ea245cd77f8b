/** Hooks that the machine's administrator sets for every user: where they lie, and what makes them more than a user's. */
import * as fs from 'node:fs'
import { dirname } from 'node:path'
import type { ConfigPlan } from './config-file.ts'
import type { HookInstall } from './hook-editor.ts'

export type ManagedInstall = { exe: string; program: string; whenBroken: HookInstall['whenBroken'] }

/** What a managed hook is installed as: root's own program, which asks the daemon of whoever runs the client. */
export const managedRequest = ({ exe, program, whenBroken }: ManagedInstall): HookInstall => ({
  hookUrl: '',
  hookToken: '',
  hookCommand: { exe, args: [program] },
  whenBroken,
  form: 'command',
})

export type FoundManaged = {
  /** Our hooks stand there for every call, and nothing there or beside it takes them out. */
  whole: boolean
  /** What is wrong with them, one sentence each. */
  troubles: string[]
  /** Loopback is kept from a proxy there, too. */
  coversLoopback: boolean
  /** The programs that the hooks run. */
  programs: string[]
}

export type ManagedEditor = {
  file: string
  /** The file with our hooks in it. @throws HookEditError where it cannot be merged safely: the message says what to add */
  install(
    before: string | undefined,
    request: ManagedInstall,
    env: Readonly<Record<string, string | undefined>>,
  ): ConfigPlan
  /** The file without them; `undefined` = nothing is left. */
  remove(before: string): { text: string | undefined; changes: string[] }
  /** Undefined where none of ours is there. Never throws for what the text holds. */
  find(text: string): FoundManaged | undefined
}

/** Why somebody other than root could change a file, one sentence; undefined when nobody can. Links are followed step by step. */
export function whoMayChange(
  file: string,
  lstat: (path: string) => fs.Stats = path => fs.lstatSync(path),
): string | undefined {
  try {
    for (let path = file; ; path = dirname(path)) {
      const stat = lstat(path)
      if (stat.isSymbolicLink()) return `${path} is a link`
      if (path === file ? !stat.isFile() : !stat.isDirectory())
        return `${path} is no ${path === file ? 'file' : 'folder'}`
      if (stat.uid !== 0) return `${path} does not belong to root`
      if ((stat.mode & 0o022) !== 0) return `${path} may be written by others than root`
      if (path === dirname(path)) return undefined
    }
  } catch {
    return `${file} cannot be looked at`
  }
}

export type Listener = { uid: number | undefined; isInit: boolean }

/**
 * `managed` only where the developer can change neither the hook nor who hears it: files that are root's, a listener of another
 * user or the system's first process, and loopback kept from a proxy there, too.
 */
export function managedLevel(about: {
  found: Pick<FoundManaged, 'whole' | 'coversLoopback'>
  isRoots: boolean
  listener: Listener
  developerUid: number | undefined
}): 'managed' | 'managed-hook-user-daemon' | undefined {
  const { found, isRoots, listener, developerUid } = about
  if (!found.whole || !isRoots) return undefined
  const isAnothers =
    listener.isInit || (listener.uid !== undefined && developerUid !== undefined && listener.uid !== developerUid)
  return isAnothers && found.coversLoopback && developerUid !== 0 ? 'managed' : 'managed-hook-user-daemon'
}

/** The managed hooks of a client on this machine; undefined where there are none. */
export function readManaged(editor: ManagedEditor): (FoundManaged & { isRoots: boolean }) | undefined {
  let text: string
  try {
    if (!fs.lstatSync(editor.file).isFile()) return undefined
    text = fs.readFileSync(editor.file, 'utf8')
  } catch {
    return undefined
  }
  const found = editor.find(text)
  if (!found) return undefined
  const changers = [editor.file, ...found.programs.map(realOf)].flatMap(path => whoMayChange(path) ?? [])
  return { ...found, isRoots: changers.length === 0, troubles: [...found.troubles, ...changers] }
}

function realOf(path: string): string {
  try {
    return fs.realpathSync(path)
  } catch {
    return path
  }
}

import { lstatSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { ClientAdapter } from '#agent/clients/adapter.ts'
import type { HookInspection } from '#agent/clients/hook-editor.ts'
import { managedLevel, readManaged } from '#agent/clients/managed.ts'
import { MANAGED } from '#agent/clients/managed-editors.ts'
import { readJson } from '#agent/home.ts'
import { folderTrouble, socketPlace } from '#agent/hook/socket-place.ts'
import { hookInstall } from '#agent/hook-programs.ts'
import { CLIENTS, type Client } from '#core/client.ts'
import type { HookOff, Report } from '#core/protocol.ts'
import type { Tokens } from './identity.ts'
import type { Runtime } from './runtime.ts'

/** What an adapter finds, in the closed words of the report. */
const OFF: Record<string, HookOff> = {
  hook_removed: 'hook_edited',
  hook_edited: 'hook_edited',
  hook_elsewhere: 'hook_edited',
  hook_program_missing: 'hook_edited',
  hook_not_trusted: 'hook_not_trusted',
  hook_switched_off: 'hooks_disabled_by_user',
  code_planted: 'environment_diverts_hook',
  foreign_entry_invalid: 'settings_unreadable',
  settings_unusable: 'settings_unreadable',
  settings_unread: 'settings_unreadable',
  managed_hooks_only: 'managed_only',
  url_not_allowed: 'url_not_allowed',
  plugins: 'mods_may_overrule',
  client_too_old: 'client_too_old',
  no_proxy_missing: 'proxy_diverts_hook',
  no_proxy_emptied: 'proxy_diverts_hook',
  canary_failed: 'canary_failed',
}

/** Folders whose own settings are looked at: those of the newest sessions. */
const PROJECTS_MAX = 20

/** What is in force in a client's configuration at this moment; undefined when it cannot be read. */
function inspectHooks(runtime: Runtime, adapter: ClientAdapter): HookInspection | undefined {
  const newest = runtime.sessions
    .all()
    .filter(session => session.client === adapter.client && session.cwd !== '')
    .sort((a, b) => b.lastSeen - a.lastSeen)
  const projectDirs = [...new Set(newest.map(session => session.cwd))].slice(0, PROJECTS_MAX)
  try {
    const door = readJson<Tokens>(runtime.home.tokens)
    if (!door) return adapter.hooks.inspect(runtime.clientHome, { projectDirs })
    const version = runtime.clientVersions.of(adapter.client)
    const { whenBroken, form } = adapter.hooks.inspect(runtime.clientHome, { projectDirs: [] })
    const expected = hookInstall(runtime.home, adapter, door, {
      whenBroken: whenBroken ?? 'pass',
      form: form ?? adapter.forms[0]!,
    })
    const found = adapter.hooks.inspect(runtime.clientHome, {
      projectDirs,
      expected,
      ...(version === undefined ? {} : { version }),
    })
    const trouble = form === 'command' || form === 'plugin' ? socketTrouble(runtime.home.root) : undefined
    if (trouble === undefined) return found
    const text = `The hook comes in by a socket that is not open: ${trouble}. ${runtime.home.log} says why.`
    return {
      ...found,
      level: 'broken',
      findings: [...found.findings, { severity: 'off', code: 'canary_failed', text }],
    }
  } catch (error) {
    runtime.log(`the settings of ${adapter.title} could not be read: ${(error as Error).message}`)
    return undefined
  }
}

/** Why command hooks cannot come in; undefined when they can. */
function socketTrouble(root: string): string | undefined {
  const place = socketPlace(root)
  if (!place) return 'this system has none'
  const trouble = folderTrouble(place)
  if (trouble !== undefined) return trouble
  return lstatSync(place.path, { throwIfNoEntry: false })?.isSocket() ? undefined : `${place.path} is not there`
}

/** Whether the hooks of every client that has any come in by the socket, so that nothing points at the port. */
export function hooksUseSocket({ adapters, clientHome }: Pick<Runtime, 'adapters' | 'clientHome'>): boolean {
  try {
    const found = [...adapters.values()].map(adapter => adapter.hooks.inspect(clientHome, { projectDirs: [] }))
    const installed = found.filter(({ level }) => level !== 'not-installed')
    return installed.length > 0 && installed.every(({ form }) => form === 'command' || form === 'plugin')
  } catch {
    return false
  }
}

/**
 * A client's level, and what a person can do about it. `undoneBy` are clauses that go on from `It stops holding when someone`;
 * `limits` are sentences. Both are told of a client that has hooks.
 */
export type HookState = Omit<Report['hooks'][number], 'off' | 'rules'> & {
  off: HookOff[]
  remedy?: string
  undoneBy?: string[]
  limits?: string[]
}

/**
 * Each client's level, read from its settings when asked: whoever has just installed or removed the hooks is told of that and
 * not of a minute ago.
 */
export function hookStates(runtime: Runtime): HookState[] {
  return [...runtime.adapters.values()].flatMap((adapter): HookState[] => {
    if (!(CLIENTS as readonly string[]).includes(adapter.client)) return []
    const client = adapter.client as Client
    const hook = inspectHooks(runtime, adapter)
    if (!hook) return [{ client, level: 'broken' as const, off: ['settings_unreadable' as const] }]
    const off = hook.findings.flatMap(({ code, file }) => {
      if (code !== 'hooks_disabled') return OFF[code] ?? []
      // the person's own is what lies beside the file with the hooks
      const own = dirname(adapter.hooks.settingsPath(runtime.clientHome))
      return [
        file !== undefined && dirname(file) === own
          ? ('hooks_disabled_by_user' as const)
          : ('hooks_disabled_by_project' as const),
      ]
    })
    const version = runtime.clientVersions.of(client)
    const managed = managedHook(runtime, client)
    if (managed)
      return [{ client, ...(version === undefined ? {} : { version }), ...managed, limits: [...adapter.limits] }]
    const remedy = remedyOf(hook)
    return [
      {
        client,
        ...(version === undefined ? {} : { version }),
        level: hook.level,
        off: [...new Set(hook.outdated ? [...off, 'hook_edited' as const] : off)],
        ...(remedy === undefined ? {} : { remedy }),
        ...(hook.level === 'not-installed'
          ? {}
          : { undoneBy: undone(runtime, adapter, hook), limits: [...adapter.limits] }),
      },
    ]
  })
}

/** The level of hooks that an administrator has set, which nothing in a user's own settings takes out. */
function managedHook(runtime: Runtime, client: Client): Omit<HookState, 'client'> | undefined {
  const editor = MANAGED.get(client)
  const found = editor && readManaged(editor)
  if (!found) return undefined
  const level = managedLevel({
    found,
    isRoots: found.isRoots,
    // it is this daemon that hears them
    listener: { uid: process.getuid?.(), isInit: process.pid === 1 },
    developerUid: statSync(runtime.clientHome.homeDir, { throwIfNoEntry: false })?.uid,
  })
  if (level === undefined) return undefined
  const trouble = socketTrouble(runtime.home.root)
  if (trouble !== undefined)
    return {
      level: 'broken',
      off: ['canary_failed'],
      remedy: `The hook comes in by a socket that is not open: ${trouble}.`,
    }
  return { level, off: [], undoneBy: level === 'managed' ? ['is root here'] : ['stops the daemon'] }
}

function undone({ clientHome }: Runtime, adapter: ClientAdapter, { form }: HookInspection): string[] {
  const file = adapter.hooks.settingsPath(clientHome)
  return [`edits ${file}`, ...(form && adapter.undoneBy ? adapter.undoneBy(form) : []), 'stops the daemon']
}

function remedyOf(hook: HookInspection): string | undefined {
  if (hook.level === 'not-installed' || hook.outdated) return 'holdpoint hooks install'
  return hook.findings.find(finding => finding.severity === 'off')?.text
}

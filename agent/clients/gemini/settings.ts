/** What we write into Gemini CLI's settings.json, and where that lies. */

import { join } from 'node:path'
import type { ClientHome } from '#agent/clients/client-home.ts'
import { type CommandHooks, ourWords, programWords } from '#agent/clients/command-hooks.ts'
import { type ConfigEdit, installInto, uninstallFrom } from '#agent/clients/config-file.ts'
import type { HookChange, HookInstall } from '#agent/clients/hook-editor.ts'
import { type Entry, type HookLists, planEntries, planWithout } from '#agent/clients/hook-lists.ts'
import { withoutComments } from '#agent/clients/json-comments.ts'
import { pauseLine, plainLine } from '#agent/clients/shell-line.ts'
import { CLIENT_NAMES } from '#core/client.ts'

const CLIENT = 'gemini'
/** By it the client's own list of hooks that are switched off would know ours. */
export const HOOK_NAME = 'holdpoint'
const PAUSE = 'BeforeTool'
const EVENTS = [PAUSE, 'SessionStart', 'BeforeAgent', 'AfterAgent', 'SessionEnd'] as const
/** Milliseconds (the client's unit). The pause point gives up after two seconds; its process has to start before that. */
const TIMEOUT_MS = 5000

const lists: HookLists = {
  events: EVENTS,
  isGrouped: true,
  emptyFile: '{}\n',
  isOurs: entry => ourWords(CLIENT, EVENTS, (entry as { command?: unknown } | null)?.command) !== undefined,
}

export const geminiHooks: CommandHooks = {
  client: CLIENT,
  title: CLIENT_NAMES.gemini,
  lists,
  entryOf(event, request) {
    const { whenBroken } = request
    const words = programWords(CLIENT, event, request, event === PAUSE && whenBroken === 'block')
    const command = event === PAUSE ? geminiHooks.lineFor(words, whenBroken) : plainLine(words)
    return { name: HOOK_NAME, type: 'command', command, timeout: TIMEOUT_MS }
  },
  lineOf: entry => entry.command,
  lineFor: (words, whenBroken) => pauseLine({ words, whenBroken, passExit: 1 }),
  // its own is a minute
  timeoutMs: ({ timeout }: Entry) => (timeout === undefined ? 60_000 : Number(timeout)),
  narrowing: [],
  read: text => JSON.parse(withoutComments(text)),
}

/** The client's own folder: `.gemini` in GEMINI_CLI_HOME, else in the home. */
export const geminiFolder = ({ homeDir, env }: ClientHome) => join(env.GEMINI_CLI_HOME || homeDir, '.gemini')

export const geminiSettingsPath = (home: ClientHome) => join(geminiFolder(home), 'settings.json')

const edit = (request?: HookInstall): ConfigEdit => ({
  install: before => planEntries(before, lists, event => geminiHooks.entryOf(event, request!)),
  remove: text => planWithout(text, lists),
})

/** @throws HookEditError; nothing is written then */
export const installGemini = (home: ClientHome, request: HookInstall, options: { dryRun: boolean }): HookChange =>
  installInto(geminiSettingsPath(home), edit(request), options)

/** @throws HookEditError */
export const uninstallGemini = (home: ClientHome, options: { dryRun: boolean }): HookChange =>
  uninstallFrom(geminiSettingsPath(home), edit(), options)

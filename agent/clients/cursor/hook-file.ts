/** What we write into Cursor's hooks.json, and where that lies. */

import { join } from 'node:path'
import type { ClientHome } from '#agent/clients/client-home.ts'
import { type CommandHooks, ourWords, programWords } from '#agent/clients/command-hooks.ts'
import { type ConfigEdit, installInto, uninstallFrom } from '#agent/clients/config-file.ts'
import type { HookChange, HookInstall } from '#agent/clients/hook-editor.ts'
import { type HookLists, planEntries, planWithout } from '#agent/clients/hook-lists.ts'
import { pauseLine, plainLine } from '#agent/clients/shell-line.ts'
import { CLIENT_NAMES } from '#core/client.ts'

const CLIENT = 'cursor'
const PAUSES: readonly string[] = ['preToolUse', 'subagentStart']
const EVENTS = [...PAUSES, 'sessionStart', 'beforeSubmitPrompt', 'stop', 'sessionEnd']
/** What a test event may take; the client's own bound, where an entry names none, is not documented. */
const PROBE_MS = 5000

const lists: HookLists = {
  events: EVENTS,
  isGrouped: false,
  emptyFile: '{\n  "version": 1\n}\n',
  isOurs: entry => ourWords(CLIENT, EVENTS, (entry as { command?: unknown } | null)?.command) !== undefined,
}

export const cursorHooks: CommandHooks = {
  client: CLIENT,
  title: CLIENT_NAMES.cursor,
  lists,
  entryOf(event, request) {
    const isBlocking = PAUSES.includes(event) && request.whenBroken === 'block'
    const words = programWords(CLIENT, event, request, isBlocking)
    const command = cursorHooks.lineFor(words, isBlocking ? 'block' : 'pass')
    // no time-out: documents of its versions differ by a thousand in the unit, and our program ends by itself
    return { command, ...(isBlocking ? { failClosed: true } : {}) }
  },
  lineOf: entry => entry.command,
  // any code but 0 and 2 lets the call run; `failClosed` is not relied upon alone
  lineFor: (words, whenBroken) =>
    whenBroken === 'block' ? pauseLine({ words, whenBroken, passExit: 1 }) : plainLine(words),
  timeoutMs: ({ timeout }) => (timeout === undefined ? PROBE_MS : Number(timeout) * 1000),
  narrowing: [],
  read: text => JSON.parse(text),
}

export const cursorHookPath = ({ homeDir }: ClientHome) => join(homeDir, '.cursor/hooks.json')

const edit = (request?: HookInstall): ConfigEdit => ({
  install: before => planEntries(before, lists, event => cursorHooks.entryOf(event, request!)),
  remove: text => planWithout(text, lists),
})

/** @throws HookEditError; nothing is written then */
export const installCursor = (home: ClientHome, request: HookInstall, options: { dryRun: boolean }): HookChange =>
  installInto(cursorHookPath(home), edit(request), options)

/** @throws HookEditError */
export const uninstallCursor = (home: ClientHome, options: { dryRun: boolean }): HookChange =>
  uninstallFrom(cursorHookPath(home), edit(), options)

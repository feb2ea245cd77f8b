/** What we write into Codex's hooks.json, and where that lies. */

import { join } from 'node:path'
import type { ClientHome } from '#agent/clients/client-home.ts'
import { type CommandHooks, ourWords, programWords, readCommandHooks } from '#agent/clients/command-hooks.ts'
import { type ConfigEdit, installInto, uninstallFrom } from '#agent/clients/config-file.ts'
import type { HookChange, HookInstall, HookProbe } from '#agent/clients/hook-editor.ts'
import { type Entry, type HookLists, planEntries, planWithout } from '#agent/clients/hook-lists.ts'
import { plainLine } from '#agent/clients/shell-line.ts'
import { CLIENT_NAMES } from '#core/client.ts'

const CLIENT = 'codex'
export const PAUSE = 'PreToolUse'
const EVENTS = [PAUSE, 'SessionStart', 'UserPromptSubmit', 'Stop'] as const
/** Seconds (the client's unit). The pause point gives up after two; its process has to start before that. */
const TIMEOUT_S = 5
/** Its own, where an entry names none. */
const DEFAULT_TIMEOUT_S = 600

/**
 * The client hands the line to its user's own shell, which need not be a POSIX one; what refuses when our program cannot be
 * started, or is killed, is therefore told to /bin/sh. The words that follow are the program.
 */
const BLOCKING =
  '/bin/sh -c \'"$@" || { [ $? -eq 2 ] || echo "Holdpoint could not judge this call, and is set to hold what it cannot judge." >&2; exit 2; }\' sh '

/** The program's own part of a line. */
const programOf = (line: unknown): unknown =>
  typeof line === 'string' && line.startsWith(BLOCKING) ? line.slice(BLOCKING.length) : line

const wordsIn = (entry: unknown) =>
  ourWords(CLIENT, EVENTS, programOf((entry as { command?: unknown } | null)?.command))

const lists: HookLists = {
  events: EVENTS,
  isGrouped: true,
  emptyFile: '{}\n',
  isOurs: entry => wordsIn(entry) !== undefined,
}

export const codexHooks: CommandHooks = {
  client: CLIENT,
  title: CLIENT_NAMES.codex,
  lists,
  entryOf(event, request) {
    const isBlocking = event === PAUSE && request.whenBroken === 'block'
    const line = plainLine(programWords(CLIENT, event, request, isBlocking))
    return { type: 'command', command: isBlocking ? BLOCKING + line : line, timeout: TIMEOUT_S }
  },
  lineOf: entry => programOf(entry.command),
  lineFor: words => plainLine(words),
  timeoutMs: ({ timeout }: Entry) => (timeout === undefined ? DEFAULT_TIMEOUT_S : Number(timeout)) * 1000,
  narrowing: ['async'],
  read: text => JSON.parse(text),
}

/** The client's own folder: CODEX_HOME, else `.codex` in the home. */
export const codexFolder = ({ homeDir, env }: ClientHome) => env.CODEX_HOME || join(homeDir, '.codex')
export const codexHooksPath = (home: ClientHome) => join(codexFolder(home), 'hooks.json')

const edit = (request?: HookInstall): ConfigEdit => ({
  install: before => planEntries(before, lists, event => codexHooks.entryOf(event, request!)),
  remove: text => planWithout(text, lists),
})

/** @throws HookEditError; nothing is written then */
export const installCodex = (home: ClientHome, request: HookInstall, options: { dryRun: boolean }): HookChange =>
  installInto(codexHooksPath(home), edit(request), options)

/** @throws HookEditError */
export const uninstallCodex = (home: ClientHome, options: { dryRun: boolean }): HookChange =>
  uninstallFrom(codexHooksPath(home), edit(), options)

/** Our hook for tool calls as it stands there, read anew. */
export function probeCodex(home: ClientHome): HookProbe | undefined {
  const main = readCommandHooks(codexHooks, codexHooksPath(home)).entries.find(({ event }) => event === PAUSE)
  const timeoutMs = main && codexHooks.timeoutMs(main.entry)
  return main && { form: 'command', run: { shell: String(main.entry.command) }, timeoutMs: timeoutMs!, env: {} }
}

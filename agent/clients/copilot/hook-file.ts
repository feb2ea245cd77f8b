/** The hook file of our own beside others in Copilot CLI's folder. */

import { join } from 'node:path'
import type { ClientHome } from '#agent/clients/client-home.ts'
import { type CommandHooks, ourWords, programWords } from '#agent/clients/command-hooks.ts'
import { type ConfigEdit, installInto, uninstallFrom } from '#agent/clients/config-file.ts'
import type { HookChange, HookInstall } from '#agent/clients/hook-editor.ts'
import { type Entry, type HookLists, planEntries, planWithout } from '#agent/clients/hook-lists.ts'
import { pauseLine, plainLine } from '#agent/clients/shell-line.ts'
import { CLIENT_NAMES } from '#core/client.ts'

const CLIENT = 'copilot'
const PAUSE = 'preToolUse'
const EVENTS = [PAUSE, 'sessionStart', 'userPromptSubmitted', 'agentStop', 'sessionEnd'] as const
/** Seconds (the client's unit). The pause point gives up after two; its process has to start before that. */
const TIMEOUT_S = 5
/** The client's own, where an entry names none. */
const ITS_TIMEOUT_S = 30

const lists: HookLists = {
  events: EVENTS,
  isGrouped: false,
  emptyFile: '{\n  "version": 1\n}\n',
  isOurs: entry => ourWords(CLIENT, EVENTS, (entry as { bash?: unknown } | null)?.bash) !== undefined,
}

export const copilotHooks: CommandHooks = {
  client: CLIENT,
  title: CLIENT_NAMES.copilot,
  lists,
  entryOf(event, request) {
    const { whenBroken } = request
    const words = programWords(CLIENT, event, request, event === PAUSE && whenBroken === 'block')
    const bash = event === PAUSE ? copilotHooks.lineFor(words, whenBroken) : plainLine(words)
    return { type: 'command', bash, timeoutSec: TIMEOUT_S }
  },
  lineOf: entry => entry.bash,
  lineFor: (words, whenBroken) => pauseLine({ words, whenBroken, passExit: 0 }),
  timeoutMs: ({ timeoutSec, timeout }: Entry) => Number(timeoutSec ?? timeout ?? ITS_TIMEOUT_S) * 1000,
  narrowing: [],
  // it reads no comments
  read: text => JSON.parse(text),
}

/** The client's own folder: COPILOT_HOME, else `.copilot` in the home. */
export const copilotFolder = ({ homeDir, env }: ClientHome) => env.COPILOT_HOME || join(homeDir, '.copilot')

export const copilotHookPath = (home: ClientHome) => join(copilotFolder(home), 'hooks/holdpoint.json')

const edit = (request?: HookInstall): ConfigEdit => ({
  install: before => planEntries(before, lists, event => copilotHooks.entryOf(event, request!)),
  remove: text => planWithout(text, lists),
})

/** @throws HookEditError; nothing is written then */
export const installCopilot = (home: ClientHome, request: HookInstall, options: { dryRun: boolean }): HookChange =>
  installInto(copilotHookPath(home), edit(request), options)

/** @throws HookEditError */
export const uninstallCopilot = (home: ClientHome, options: { dryRun: boolean }): HookChange =>
  uninstallFrom(copilotHookPath(home), edit(), options)

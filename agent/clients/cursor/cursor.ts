/** The Cursor adapter, built from its documents and not tried against the client: README.md beside this file. */
import type { ClientAdapter, UsageState } from '#agent/clients/adapter.ts'
import { probeCommandHooks } from '#agent/clients/command-hooks.ts'
import { parseCursorHook } from './hook-event.ts'
import { cursorHookPath, cursorHooks, installCursor, uninstallCursor } from './hook-file.ts'
import { inspectCursor } from './inspect.ts'
import { renderCursor, renderCursorBroken } from './render.ts'

const UNREAD: UsageState = { v: 1, client: 'cursor' }

export const cursor: ClientAdapter = {
  client: 'cursor',
  title: 'Cursor',
  program: 'cursor',
  forms: ['command'],
  asks: false,
  holds: ['continue', 'spend', 'subagent_model'],
  limits: [
    'Not tried against the real client: built from its documents.',
    'What a session costs is not read: a rule about session_cost_usd finds that figure unread there, and budgets lack what Cursor used.',
    'Calls that nobody judged cannot be found: its records are not read.',
    'Nothing tells soundly whether someone is at the keyboard, so what would be asked is refused, with the command that answers it.',
    'Cloud agents do not have a user’s hooks, and a project’s own hooks stand above them.',
    'With third-party hooks switched on it runs Claude Code’s hooks as well, and a call is then judged twice, once under each name.',
  ],
  failsClosed: { command: 'client' },
  hookPath: '/hook/cursor',
  originFromEnv: () => ({}),
  originFromHeaders: () => ({}),
  parse: parseCursorHook,
  render: renderCursor,
  renderBroken: renderCursorBroken,
  hooks: {
    settingsPath: cursorHookPath,
    install: installCursor,
    uninstall: uninstallCursor,
    probe: home => probeCommandHooks(cursorHooks, cursorHookPath(home)),
    inspect: inspectCursor,
  },
  undoneBy: () => ['works in a cloud agent, or in a project whose own hooks allow the call'],
  usage: {
    readSession: () => ({
      state: UNREAD,
      costPicoUsd: undefined,
      fallback: false,
      unpricedModels: [],
      records: [],
      toolUses: [],
      toolResults: [],
      fresh: false,
      problem: 'no_transcript',
      more: false,
    }),
    *changedSessions() {
      // none: what it records is not public
    },
    marksOf: state => state,
  },
}

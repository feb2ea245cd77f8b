/** The Cursor adapter, built from its documents and not tried against the client: README.md beside this file. */

import type { ClientAdapter } from '#agent/clients/adapter.ts'
import { probeCommandHooks } from '#agent/clients/command-hooks.ts'
import type { UsageState } from '#agent/clients/usage-source.ts'
import { CLIENT_NAMES } from '#core/client.ts'
import { CLIENT_LIMITS } from '#core/client-limits.ts'
import { parseCursorHook } from './hook-event.ts'
import { cursorHookPath, cursorHooks, installCursor, uninstallCursor } from './hook-file.ts'
import { inspectCursor } from './inspect.ts'
import { renderCursor, renderCursorBroken } from './render.ts'

const UNREAD: UsageState = { v: 1, client: 'cursor' }

export const cursor: ClientAdapter = {
  client: 'cursor',
  title: CLIENT_NAMES.cursor,
  program: 'cursor',
  forms: ['command'],
  asks: false,
  holds: ['continue', 'spend', 'subagent_model'],
  limits: CLIENT_LIMITS.cursor,
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

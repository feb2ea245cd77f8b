/** The Gemini CLI adapter. Its oddities, measured, are in README.md beside this file. */

import type { ClientAdapter } from '#agent/clients/adapter.ts'
import { probeCommandHooks } from '#agent/clients/command-hooks.ts'
import { CLIENT_NAMES } from '#core/client.ts'
import { CLIENT_LIMITS } from '#core/client-limits.ts'
import { changedGeminiSessions } from './changed-chats.ts'
import { type GeminiUsageState, marksOf } from './chat.ts'
import { readGeminiSession } from './chat-file.ts'
import { parseGeminiHook } from './hook-event.ts'
import { inspectGemini } from './inspect.ts'
import { renderGemini, renderGeminiBroken } from './render.ts'
import { geminiHooks, geminiSettingsPath, installGemini, uninstallGemini } from './settings.ts'

export const gemini: ClientAdapter<GeminiUsageState> = {
  client: 'gemini',
  title: CLIENT_NAMES.gemini,
  program: 'gemini',
  forms: ['command'],
  asks: false,
  holds: ['continue', 'spend', 'subagent_model'],
  limits: CLIENT_LIMITS.gemini,
  failsClosed: { command: 'program' },
  lacks:
    'Gemini CLI records the answers of its conversations only: calls that choose a model or shorten a conversation, and attempts that failed, are missing',
  recordsFirst: true,
  hookPath: '/hook/gemini',
  originFromEnv: () => ({}),
  originFromHeaders: () => ({}),
  parse: parseGeminiHook,
  render: renderGemini,
  renderBroken: renderGeminiBroken,
  hooks: {
    settingsPath: geminiSettingsPath,
    install: installGemini,
    uninstall: uninstallGemini,
    probe: home => probeCommandHooks(geminiHooks, geminiSettingsPath(home)),
    inspect: inspectGemini,
  },
  undoneBy: () => [
    'sets hooksConfig in its settings, or trusts no folder',
    'starts it in its container sandbox, or with another home (GEMINI_CLI_HOME)',
  ],
  usage: { readSession: readGeminiSession, changedSessions: changedGeminiSessions, marksOf },
}

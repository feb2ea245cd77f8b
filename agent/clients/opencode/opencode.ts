/** The opencode adapter. Its oddities, measured, are in README.md beside this file. */

import type { ClientAdapter } from '#agent/clients/adapter.ts'
import { CLIENT_NAMES } from '#core/client.ts'
import { CLIENT_LIMITS } from '#core/client-limits.ts'
import { inspectPlugin } from './inspect.ts'
import { parseOpencodeHook } from './parse.ts'
import { foundPlugin, installPlugin, pluginPath, uninstallPlugin } from './plugin-file.ts'
import { renderOpencode, renderOpencodeBroken } from './render.ts'
import { tryPlugin } from './try-plugin.ts'
import { changedOpencodeSessions, marksOf, type OpencodeUsageState, readOpencodeSession } from './usage.ts'

export const opencode: ClientAdapter<OpencodeUsageState> = {
  client: 'opencode',
  title: CLIENT_NAMES.opencode,
  program: 'opencode',
  forms: ['plugin'],
  asks: false,
  holds: ['continue', 'spend', 'subagent_model'],
  limits: CLIENT_LIMITS.opencode,
  undoneBy: () => ['starts opencode with `--pure` or with OPENCODE_PURE set'],
  failsClosed: { plugin: 'program' },
  hookPath: '/hook/opencode',
  originFromEnv: () => ({}),
  originFromHeaders: () => ({}),
  parse: parseOpencodeHook,
  render: renderOpencode,
  renderBroken: renderOpencodeBroken,
  hooks: {
    settingsPath: pluginPath,
    install: installPlugin,
    uninstall: uninstallPlugin,
    probe(home) {
      const found = foundPlugin(home)?.found
      if (!found) return undefined
      const file = pluginPath(home)
      const run = tryPlugin(file)
      return { form: 'plugin', file, env: {}, ...(run ? { run } : {}) }
    },
    inspect: inspectPlugin,
  },
  usage: { readSession: readOpencodeSession, changedSessions: changedOpencodeSessions, marksOf },
}

/** The opencode adapter. Its oddities, measured, are in README.md beside this file. */
import type { ClientAdapter } from '#agent/clients/adapter.ts'
import { inspectPlugin } from './inspect.ts'
import { parseOpencodeHook } from './parse.ts'
import { foundPlugin, installPlugin, pluginPath, uninstallPlugin } from './plugin-file.ts'
import { renderOpencode, renderOpencodeBroken } from './render.ts'
import { tryPlugin } from './try-plugin.ts'
import { changedOpencodeSessions, marksOf, type OpencodeUsageState, readOpencodeSession } from './usage.ts'

export const opencode: ClientAdapter<OpencodeUsageState> = {
  client: 'opencode',
  title: 'opencode',
  program: 'opencode',
  forms: ['plugin'],
  asks: false,
  holds: ['continue', 'spend', 'subagent_model'],
  limits: [
    'opencode records what a response has cost only after the tool calls in it have run: a call is judged by the cost up to the response before it.',
    'opencode has no form of hook that a developer cannot switch off: `--pure` or OPENCODE_PURE leaves it out, and calls then run unseen until they are found in its records.',
    'It cannot put a question to whoever is at its keyboard: what would be asked is refused, and is answered with `holdpoint approve`.',
    'What a person types as a shell command (`!…`) is not an agent’s call and is not held.',
  ],
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

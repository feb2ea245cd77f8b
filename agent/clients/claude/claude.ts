/** The Claude Code adapter. Its oddities, measured, are in README.md beside this file. */

import * as fs from 'node:fs'
import { join } from 'node:path'
import type { ClientAdapter } from '#agent/clients/adapter.ts'
import type { ClientHome } from '#agent/clients/client-home.ts'
import { readConfigText } from '#agent/clients/config-file.ts'
import { HookEditError } from '#agent/clients/hook-editor.ts'
import { readRegular } from '#agent/regular-file.ts'
import { CLIENT_NAMES } from '#core/client.ts'
import { CLIENT_LIMITS } from '#core/client-limits.ts'
import { changedClaudeSessions } from './changed-sessions.ts'
import { accountIn, coverIn } from './cover.ts'
import { inspectSettings, type SettingsText } from './inspect.ts'
import { MANAGED_DIR } from './managed.ts'
import { originFromEnv, originFromHeaders, parseClaudeHook } from './parse.ts'
import { probeSettings } from './probe.ts'
import { projectSettings } from './project-settings.ts'
import { renderClaude, renderClaudeBroken } from './render.ts'
import { CLAUDE_HOOK_PATH } from './settings.ts'
import { installHooks, settingsPath, uninstallHooks } from './settings-file.ts'
import { type ClaudeUsageState, marksOf } from './transcript.ts'
import { readClaudeSession } from './transcript-file.ts'

/** Whatever cannot be read as text is left out: the client skips it as well. */
function texts(files: string[]): SettingsText[] {
  return files.flatMap(file => {
    try {
      const text = readConfigText(file)
      return text === undefined ? [] : [{ file, text }]
    } catch (error) {
      if (error instanceof HookEditError) return []
      throw error
    }
  })
}

function managedFiles(): string[] {
  const dropIns = join(MANAGED_DIR, 'managed-settings.d')
  const names = fs.existsSync(dropIns) ? fs.readdirSync(dropIns).filter(n => n.endsWith('.json')) : []
  return [join(MANAGED_DIR, 'managed-settings.json'), ...names.sort().map(n => join(dropIns, n))]
}

/** Grows with the projects of years. */
const ACCOUNT_FILE_MAX = 16 * 1024 * 1024

/** The client's own state, which says who is signed in. Beside it stand keys: nothing of those is kept. */
function accountOf(home: ClientHome) {
  const { CLAUDE_CONFIG_DIR } = home.env
  const file = readRegular(join(CLAUDE_CONFIG_DIR || home.homeDir, '.claude.json'), { maxBytes: ACCOUNT_FILE_MAX })
  const account = 'bytes' in file ? accountIn(file.bytes.toString('utf8')) : undefined
  return account ?? { isSignedIn: false }
}

/** Whether settings name a program that makes keys. */
function hasKeyHelper(home: ClientHome, cwd: string): boolean {
  const projects = cwd === '' ? [] : projectSettings(cwd)
  return [...texts([settingsPath(home), ...managedFiles()]), ...projects].some(one => {
    try {
      return 'text' in one && typeof (JSON.parse(one.text) as { apiKeyHelper?: unknown }).apiKeyHelper === 'string'
    } catch {
      return false
    }
  })
}

export const claude: ClientAdapter<ClaudeUsageState> = {
  client: 'claude-code',
  title: CLIENT_NAMES['claude-code'],
  lacks:
    'Claude Code records nothing of an attempt that broke off before its first whole block, nor of its own small requests (a session’s title): both count where it tells of its usage by telemetry (`holdpoint telemetry`), and nowhere else',
  program: 'claude',
  forms: ['http', 'command'],
  asks: true,
  holds: ['continue', 'spend', 'subagent_model'],
  limits: CLIENT_LIMITS['claude-code'],
  undoneBy: form => [
    'starts Claude Code with hooks switched off (disableAllHooks, --bare)',
    form === 'command'
      ? 'loads code into the hook’s program by a variable (NODE_OPTIONS) in a project’s settings'
      : 'points a proxy variable past NO_PROXY in a project’s settings',
  ],
  failsClosed: { http: 'client', command: 'client' },
  hookPath: CLAUDE_HOOK_PATH,
  originFromEnv,
  originFromHeaders,
  parse: parseClaudeHook,
  render: renderClaude,
  renderBroken: renderClaudeBroken,
  hooks: {
    settingsPath,
    install: installHooks,
    uninstall: uninstallHooks,
    probe: home => probeSettings(readConfigText(settingsPath(home))),
    inspect(home, { projectDirs, expected, version }) {
      return inspectSettings({
        user: texts([settingsPath(home)])[0],
        projects: projectDirs.flatMap(projectSettings),
        managed: texts(managedFiles()),
        env: home.env,
        isProgram: path => fs.statSync(path, { throwIfNoEntry: false })?.isFile() ?? false,
        ...(expected ? { expected } : {}),
        ...(version ? { version } : {}),
      })
    },
  },
  coverOf: (home, { credential, attended, cwd }) =>
    coverIn(credential, attended, { ...accountOf(home), hasKeyHelper: hasKeyHelper(home, cwd) }),
  usage: { readSession: readClaudeSession, changedSessions: changedClaudeSessions, marksOf },
}

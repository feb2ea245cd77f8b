/** Claude Code's settings.json: where it lies, and our edits of it. */
import { join } from 'node:path'
import type { ClientHome } from '#agent/clients/client-home.ts'
import { installInto, type Loaded, uninstallFrom } from '#agent/clients/config-file.ts'
import type { HookChange, HookInstall } from '#agent/clients/hook-editor.ts'
import { planInstall, planUninstall } from './settings.ts'

/** The client's own folder: CLAUDE_CONFIG_DIR, else `.claude` in the home. */
export const claudeDir = (home: ClientHome) => home.env.CLAUDE_CONFIG_DIR || join(home.homeDir, '.claude')

/** The file that holds its user's settings. */
export const settingsPath = (home: ClientHome) => join(claudeDir(home), 'settings.json')

/**
 * The mode that the file gets at an install of the http form. It then holds the token that hooks come in with: another user of
 * the machine who reads it could send events in this one's name. Another user's file keeps the mode that its owner gave it.
 */
const modeFor = ({ form }: HookInstall, { mode, own }: Loaded) =>
  form === 'http' && own && (mode & 0o077) !== 0
    ? { mode: 0o600, why: 'it holds the hook’s token, which no other user of this machine may read' }
    : undefined

/** @throws HookEditError; nothing is written then */
export const installHooks = (home: ClientHome, request: HookInstall, options: { dryRun: boolean }): HookChange =>
  installInto(
    settingsPath(home),
    {
      install: before => planInstall(before, request, home.env),
      remove: planUninstall,
      modeFor: loaded => modeFor(request, loaded),
    },
    options,
  )

/** @throws HookEditError */
export const uninstallHooks = (home: ClientHome, options: { dryRun: boolean }): HookChange =>
  uninstallFrom(settingsPath(home), { remove: planUninstall }, options)

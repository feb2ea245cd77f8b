/** Our status line in Claude Code's settings.json, on disk. */
import type { ClientHome } from '#agent/clients/client-home.ts'
import { installInto, readConfigText, uninstallFrom } from '#agent/clients/config-file.ts'
import type { HookChange } from '#agent/clients/hook-editor.ts'
import { settingsPath } from './settings-file.ts'
import { findStatusLine, planStatusLine, planStatusLineRemoval, type StatusLineProgram } from './statusline.ts'

/** The hooks' edit of the same file has its own way back. */
const KEPT = 'statusline'

/** @throws HookEditError; nothing is written then */
export const installStatusLine = (
  home: ClientHome,
  program: StatusLineProgram,
  options: { dryRun: boolean },
): HookChange =>
  installInto(
    settingsPath(home),
    { kept: KEPT, install: before => planStatusLine(before, program), remove: planStatusLineRemoval },
    options,
  )

/** @throws HookEditError */
export const uninstallStatusLine = (home: ClientHome, options: { dryRun: boolean }): HookChange =>
  uninstallFrom(settingsPath(home), { kept: KEPT, remove: planStatusLineRemoval }, options)

/** What is set in the user's own settings. @throws HookEditError */
export const statusLineOf = (home: ClientHome) => ({
  file: settingsPath(home),
  ...findStatusLine(readConfigText(settingsPath(home))),
})

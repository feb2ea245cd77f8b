import type { ClientAdapter } from '#agent/clients/adapter.ts'
import type { HookInspection } from '#agent/clients/hook-editor.ts'
import { readJson } from '#agent/home.ts'
import { hookInstall } from '#agent/hook-programs.ts'
import type { Tokens } from './identity.ts'
import type { Runtime } from './runtime.ts'

/** Whoever edited the module, or installed it for another home, is told of and not overruled. */
const NOT_OURS_TO_MEND = ['hook_edited', 'hook_elsewhere', 'settings_unusable']

/**
 * Writes the modules that clients load anew where another version of ours has written them, at the daemon's start: they are code
 * of this connector that lies elsewhere. Sessions that run keep the one that they have loaded.
 */
export function refreshPlugins(runtime: Runtime): void {
  const door = readJson<Tokens>(runtime.home.tokens)
  if (!door) return
  for (const adapter of runtime.adapters.values()) {
    if (!adapter.forms.includes('plugin')) continue
    try {
      refresh(runtime, adapter, door)
    } catch (error) {
      runtime.log(`the plugin of ${adapter.title} could not be written anew: ${(error as Error).message}`)
    }
  }
}

function refresh(runtime: Runtime, adapter: ClientAdapter, door: Tokens): void {
  const { home, clientHome, log } = runtime
  const inspect = (more: object = {}): HookInspection => adapter.hooks.inspect(clientHome, { projectDirs: [], ...more })
  const { form, whenBroken = 'pass' } = inspect()
  if (form !== 'plugin') return
  const expected = hookInstall(home, adapter, door, { form, whenBroken })
  const { outdated, findings } = inspect({ expected })
  if (!outdated || findings.some(({ code }) => NOT_OURS_TO_MEND.includes(code))) return
  const { file } = adapter.hooks.install(clientHome, expected, { dryRun: false })
  log(`${file} was of another version and has been written anew`)
}

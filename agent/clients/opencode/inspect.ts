/** What becomes of our module in opencode as things stand: a level, and all that switches it off or could. */
import * as fs from 'node:fs'
import { join } from 'node:path'
import type { ClientHome } from '#agent/clients/client-home.ts'
import type { HookFinding, HookInspection, HookInstall } from '#agent/clients/hook-editor.ts'
import { readRegular } from '#agent/regular-file.ts'
import { builtPlugin, configFolder, foundPlugin, installedOf, isFile, pluginPath, pluginText } from './plugin-file.ts'

/** The version that it was tried with, as far as versions of one kind go. */
const TRIED = { major: 1, minor: 18 }
const SETTINGS_MAX = 1024 * 1024

/** As opencode reads such a variable. */
const isOn = (value: string | undefined) => /^(?:true|yes|on|1|y)$/i.test(value ?? '')

type About = { projectDirs: string[]; expected?: HookInstall; version?: string }

/** See `HookEditor.inspect`. Never throws for what files hold. */
export function inspectPlugin(home: ClientHome, { projectDirs, expected, version }: About): HookInspection {
  const findings: HookFinding[] = []
  const file = pluginPath(home)
  const add = (severity: HookFinding['severity'], code: string, text: string, at = file) =>
    findings.push({ severity, code, text, file: at })
  const there = foundPlugin(home)
  if (!there) return { level: 'not-installed', outdated: false, findings }
  if (!there.found) {
    add(
      'off',
      'settings_unusable',
      `${file} is there and is not Holdpoint’s plugin, which opencode would load from it. Move it away.`,
    )
    return { level: 'not-installed', outdated: false, findings }
  }
  const { installed, isEdited } = there.found
  if (isEdited)
    add(
      'off',
      'hook_edited',
      `${file} is not as it was installed: what it does now is not known. Install the hooks again.`,
    )
  if (installed) {
    const missing = [installed.node, installed.hook].find(path => !isFile(path))
    if (missing !== undefined)
      add(
        'risk',
        'hook_program_missing',
        `${missing} is not there, so opencode cannot start Holdpoint’s daemon, and calls run unseen while it is down. Install the hooks again.`,
      )
    if (expected && installed.home !== installedOf(expected).home)
      add('off', 'hook_elsewhere', `The plugin asks the daemon of another folder (${installed.home}).`)
  }
  if (isOn(home.env.OPENCODE_PURE))
    add('off', 'hooks_disabled', 'OPENCODE_PURE is set: opencode loads no plugins, and calls run unseen. Unset it.')
  inspectVersion(version, add)
  const folder = configFolder(home)
  if (!fs.existsSync(join(folder, 'node_modules', '@opencode-ai', 'plugin')))
    add(
      'risk',
      'plugin_package',
      `opencode fetches a package of its own into ${folder} at its first start and waits for it before it loads plugins: that start needs its registry.`,
    )
  const besides = home.env.OPENCODE_CONFIG_DIR
  const second = ['plugin', 'plugins']
    .map(name => besides && join(besides, name, 'holdpoint.js'))
    .find(path => path && isFile(path))
  if (second && second !== file)
    add(
      'risk',
      'second_plugin',
      `${second} is loaded as well, so that each call is asked about twice. Remove it.`,
      second,
    )
  for (const dir of projectDirs) {
    const own = pluginsOf(dir)
    if (own)
      add(
        'risk',
        'plugins',
        `${own} brings plugins of the project’s own, which run in the same program and could undo ours.`,
        own,
      )
  }
  const plugin = builtPlugin()
  const outdated =
    expected !== undefined &&
    plugin !== undefined &&
    there.text !== pluginText(plugin, installedOf(expected, installed))
  const level = findings.some(({ severity }) => severity === 'off') ? 'broken' : 'user-hook'
  const { whenBroken } = installed ?? {}
  return { level, form: 'plugin', ...(whenBroken ? { whenBroken } : {}), outdated, findings }
}

function inspectVersion(
  version: string | undefined,
  add: (severity: 'risk', code: string, text: string) => void,
): void {
  if (version === undefined) return
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major === TRIED.major && minor >= TRIED.minor) return
  const kind = major > TRIED.major ? 'newer' : 'older'
  add('risk', 'client_untested', `opencode ${version} is ${kind} than any version the plugin was tried with (1.18).`)
}

/** Where a project brings plugins from. */
function pluginsOf(dir: string): string | undefined {
  for (const name of ['plugin', 'plugins']) {
    const folder = join(dir, '.opencode', name)
    try {
      if (fs.readdirSync(folder).some(one => /\.[jt]s$/.test(one))) return folder
    } catch {
      // there is none
    }
  }
  return ['opencode.json', 'opencode.jsonc', '.opencode/opencode.json', '.opencode/opencode.jsonc']
    .map(name => join(dir, name))
    .find(file => {
      const read = readRegular(file, { maxBytes: SETTINGS_MAX, links: true })
      return 'bytes' in read && /"plugins?"\s*:\s*\[\s*[^\]\s]/.test(read.bytes.toString('utf8'))
    })
}

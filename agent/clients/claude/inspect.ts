/** What the settings that are in force do to our hooks: a level and everything that switches them off. Pure. */
import { HookEditError, type HookFinding, type HookInspection, type HookInstall } from '#agent/clients/hook-editor.ts'
import { type JsonNode, nodeAt, plainOf } from '#agent/clients/json-text.ts'
import { globMatches } from '#core/glob.ts'
import { coversLoopback, findOurEntries, formOf, HOOK_EVENTS, hookEntry, readSettings } from './settings.ts'

export type SettingsText = { file: string; text: string }
/** Settings of a project that are there and were not read, with the reason in words. */
export type SettingsUnread = { file: string; unread: string }
export type InspectInput = {
  user: SettingsText | undefined
  /** `.claude/settings.json` and `.claude/settings.local.json` of the projects concerned. */
  projects: (SettingsText | SettingsUnread)[]
  /** Managed settings, drop-ins included. */
  managed: SettingsText[]
  /** Environment that the client is started with, as far as it is known. */
  env: Readonly<Record<string, string | undefined>>
  expected?: HookInstall
  /** Whether a program is there: hooks that another Node of this machine runs are as good as ours. */
  isProgram?: (path: string) => boolean
  /** The client's version, e.g. `2.1.332`. */
  version?: string
}

/** `onFailure` is ignored before this one (measured). */
const ON_FAILURE_SINCE = [2, 1, 295]
/** The oldest version in which an http hook was seen to refuse. */
const HTTP_HOOKS_SEEN = [2, 1, 150]
const PROXIES = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'all_proxy']

function olderThan(version: string, than: number[]): boolean {
  const parts = version.split('.').map(Number)
  for (let i = 0; i < than.length; i++) {
    if ((parts[i] ?? 0) !== than[i]) return (parts[i] ?? 0) < than[i]!
  }
  return false
}

type Parsed = { file: string; root: JsonNode; get: (...path: (string | number)[]) => unknown }

function parse(
  source: SettingsText | SettingsUnread,
  findings: HookFinding[],
  severity: 'off' | 'risk',
): Parsed | undefined {
  if ('unread' in source) {
    const text = `${source.file} was not read (it ${source.unread}), so what it does to the hooks is not known.`
    findings.push({ severity, code: 'settings_unread', text, file: source.file })
    return undefined
  }
  try {
    const root = readSettings(source.text)
    const get = (...path: (string | number)[]) => {
      const node = nodeAt(root, path)
      return node && plainOf(node)
    }
    return { file: source.file, root, get }
  } catch (error) {
    if (!(error instanceof HookEditError)) throw error
    const text = `${source.file} cannot be used (${error.message}); Claude Code skips such a file without a word.`
    findings.push({ severity, code: 'settings_unusable', text, file: source.file })
    return undefined
  }
}

/** An invalid value in any PreToolUse entry makes the client drop the whole user file (measured). */
function invalidForeignEntry(settings: Parsed): boolean {
  const groups = settings.get('hooks', 'PreToolUse')
  if (!Array.isArray(groups)) return false
  return groups
    .flatMap(g => (g as { hooks: unknown[] }).hooks)
    .some(hook => {
      const { timeout, onFailure } = (hook ?? {}) as Record<string, unknown>
      const badTimeout = timeout !== undefined && (typeof timeout !== 'number' || timeout <= 0)
      return badTimeout || (onFailure !== undefined && onFailure !== 'block' && onFailure !== 'continue')
    })
}

function inspectProxy(user: Parsed, projects: Parsed[], env: InspectInput['env'], findings: HookFinding[]): void {
  const sources = [user, ...projects]
  const proxied = PROXIES.some(n => env[n] || sources.some(s => s.get('env', n)))
  const effect = proxied
    ? 'a proxy is set, so the hook goes there and tool calls run unseen'
    : 'a proxy variable would send the hook elsewhere and tool calls would run unseen'
  const severity = proxied ? 'off' : 'risk'
  for (const name of ['NO_PROXY', 'no_proxy']) {
    const value = user.get('env', name) as string | undefined
    if (!coversLoopback(value)) {
      const text = `env.${name} in ${user.file} does not name 127.0.0.1: ${effect}. Install the hooks again.`
      findings.push({ severity, code: 'no_proxy_missing', text, file: user.file })
    }
    for (const project of projects) {
      const own = project.get('env', name)
      if (own === undefined || coversLoopback(own as string)) continue
      const text = `env.${name} in ${project.file} takes loopback out again: ${effect}. Remove it there.`
      findings.push({ severity, code: 'no_proxy_emptied', text, file: project.file })
    }
  }
}

/** Options of Node that change nothing about what a program does; of the others some load code, one waits for a debugger. */
const HARMLESS =
  /^--(?:max-old-space-size|max-semi-space-size|no-warnings|no-deprecation|trace-[a-z-]+|enable-source-maps|stack-trace-limit|unhandled-rejections|dns-result-order|use-(?:openssl|bundled|system)-ca|tls-[a-z0-9.-]+)(?:=[\w.-]+)?$/
/** Variables by which the system's loader, or Node's OpenSSL, runs code of somebody else's in a program. */
const LOADERS = [
  'LD_PRELOAD',
  'LD_AUDIT',
  'LD_LIBRARY_PATH',
  'DYLD_INSERT_LIBRARIES',
  'DYLD_LIBRARY_PATH',
  'OPENSSL_CONF',
]

/** A command hook runs with the environment that settings give: code that is loaded into it can answer in its place. */
function inspectEnvironment(sources: Parsed[], findings: HookFinding[]): void {
  for (const source of sources) {
    const options = String(source.get('env', 'NODE_OPTIONS') ?? '')
      .split(/\s+/)
      .filter(Boolean)
    const name = options.every(option => HARMLESS.test(option))
      ? LOADERS.find(loader => source.get('env', loader))
      : 'NODE_OPTIONS'
    if (name === undefined) continue
    const text = `env.${name} in ${source.file} changes what the hook’s program runs, so that calls may run unseen. Remove it there.`
    findings.push({ severity: 'risk', code: 'code_planted', text, file: source.file })
  }
}

/** The same install as if the Node that an entry names had made it, where that Node is still there. */
function withFoundNode(found: Record<string, unknown>, request: HookInstall, isProgram?: (path: string) => boolean) {
  const { command } = found
  const { hookCommand } = request
  if (typeof command !== 'string' || nameOf(command) !== nameOf(hookCommand.exe) || !isProgram?.(command))
    return request
  return { ...request, hookCommand: { ...hookCommand, exe: command } }
}
const nameOf = (path: string) => path.split(/[\\/]/).at(-1)

/** Whether an http entry reaches the daemon and is let in. */
function goesTo(entry: Record<string, unknown>, { hookUrl, hookToken }: HookInstall): boolean {
  const { Authorization } = (entry.headers ?? {}) as Record<string, unknown>
  return entry.url === hookUrl && Authorization === `Bearer ${hookToken}`
}

/** Whether a command entry runs the program that would be installed now. */
function runs(entry: Record<string, unknown>, request: HookInstall, isProgram: InspectInput['isProgram']): boolean {
  const { command, args } = hookEntry('PreToolUse', { ...withFoundNode(entry, request, isProgram), form: 'command' })
  return entry.command === command && JSON.stringify(entry.args) === JSON.stringify(args)
}

/** What an entry names and is not there: the Node that a version manager has removed, or our own program. */
function missingProgram({ command, args }: Record<string, unknown>, isProgram: InspectInput['isProgram']): unknown {
  const programs = [command, ...(Array.isArray(args) ? args : [])].filter(
    (path): path is string => typeof path === 'string' && path.startsWith('/'),
  )
  return isProgram && programs.find(path => !isProgram(path))
}

/** Judges settings texts; see `HookInspection`. Never throws for what they hold. */
export function inspectSettings(input: InspectInput): HookInspection {
  const findings: HookFinding[] = []
  const add = (severity: 'off' | 'risk', code: string, text: string, file?: string) =>
    findings.push({ severity, code, text, ...(file ? { file } : {}) })
  const user = input.user && parse(input.user, findings, 'off')
  if (input.user && !user) return { level: 'broken', outdated: false, findings }
  const ours = user ? findOurEntries(user.root) : []
  if (!user || ours.length === 0) return { level: 'not-installed', outdated: false, findings }

  const projects = input.projects.flatMap(p => parse(p, findings, 'risk') ?? [])
  const managed = input.managed.flatMap(m => parse(m, findings, 'risk') ?? [])
  const main = ours.find(o => o.event === 'PreToolUse')
  const entry = main?.entry
  for (const event of HOOK_EVENTS) {
    if (ours.some(o => o.event === event)) continue
    const what = event === 'PreToolUse' ? 'no tool call is seen' : 'a daemon that is down may stay down'
    add(event === 'PreToolUse' ? 'off' : 'risk', 'hook_removed', `The ${event} hook is missing: ${what}.`, user.file)
  }
  if (main && entry) {
    const narrowed = !['*', '', undefined].includes(main.matcher as string | undefined)
    if (narrowed) add('off', 'hook_edited', 'The PreToolUse hook was narrowed to some tools.', user.file)
    for (const key of ['if', 'async', 'once'])
      if (entry[key] !== undefined && entry[key] !== false)
        add('off', 'hook_edited', `The PreToolUse hook was given "${key}", so that calls pass it by.`, user.file)
    if (typeof entry.timeout !== 'number' || entry.timeout < 1)
      add('off', 'hook_edited', 'The time-out of the PreToolUse hook was changed.', user.file)
  }
  if (invalidForeignEntry(user)) {
    const text = 'An entry among the PreToolUse hooks has an invalid value; Claude Code then drops this whole file.'
    add('off', 'foreign_entry_invalid', text, user.file)
  }
  for (const source of [user, ...projects])
    if (source.get('disableAllHooks') === true)
      add('off', 'hooks_disabled', `disableAllHooks in ${source.file} switches every user hook off.`, source.file)
  for (const source of managed)
    if (source.get('allowManagedHooksOnly') === true)
      add(
        'off',
        'managed_hooks_only',
        `${source.file} allows managed hooks only: \`holdpoint hooks install --managed\` sets ours there.`,
        source.file,
      )
  const form = entry && formOf(entry)
  if (form === 'http') {
    for (const source of [user, ...projects, ...managed]) {
      const allowed = source.get('allowedHttpHookUrls')
      const url = String(entry?.url)
      if (!Array.isArray(allowed) || allowed.some(p => typeof p === 'string' && globMatches(p, url))) continue
      add('off', 'url_not_allowed', `allowedHttpHookUrls in ${source.file} does not list our address.`, source.file)
    }
    inspectProxy(user, projects, input.env, findings)
  } else if (entry) {
    const missing = missingProgram(entry, input.isProgram)
    const text = `The PreToolUse hook’s program is not there: ${missing}. Install the hooks again.`
    if (missing) add('off', 'hook_program_missing', text, user.file)
    inspectEnvironment([user, ...projects, ...managed], findings)
  }
  const plugins = user.get('enabledPlugins')
  if (plugins && Object.values(plugins).some(Boolean))
    add('risk', 'plugins', 'Plugins are enabled; one with a hooks module can overrule a user hook.', user.file)

  const whenBroken = entry?.onFailure === 'block' ? ('block' as const) : ('pass' as const)
  const { version } = input
  if (version !== undefined && whenBroken === 'block' && olderThan(version, ON_FAILURE_SINCE))
    add('off', 'client_too_old', `Claude Code ${version} ignores "block when broken"; it needs 2.1.295.`)
  if (version !== undefined && olderThan(version, HTTP_HOOKS_SEEN))
    add('risk', 'client_untested', `Claude Code ${version} is older than any version these hooks were tried with.`)

  const { expected } = input
  const isAsInstalled = ({ event, entry: found }: (typeof ours)[number], request: HookInstall) =>
    JSON.stringify(found) === JSON.stringify(hookEntry(event, withFoundNode(found, request, input.isProgram)))
  const outdated = expected !== undefined && ours.some(found => !isAsInstalled(found, expected))
  if (expected && entry && form === 'http' && !goesTo(entry, expected))
    add('off', 'hook_elsewhere', 'The PreToolUse hook goes to another address or carries another token.', user.file)
  if (expected && entry && form === 'command' && !runs(entry, expected, input.isProgram))
    add('off', 'hook_elsewhere', 'The PreToolUse hook runs another program than ours.', user.file)
  const level = findings.some(f => f.severity === 'off' && f.code !== 'client_too_old') ? 'broken' : 'user-hook'
  return { level, ...(form ? { form } : {}), whenBroken, outdated, findings }
}

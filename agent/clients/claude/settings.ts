/** What we write into Claude Code's settings.json, how our entries are known again, and the edits themselves. Pure. */
import { HookEditError, type HookForm, type HookInstall } from '#agent/clients/hook-editor.ts'
import {
  type JsonNode,
  JsonTextError,
  nodeAt,
  parseJsonText,
  placeOf,
  plainOf,
  removeIn,
  setIn,
} from '#agent/clients/json-text.ts'
import { ENTRYPOINT_HEADER } from './parse.ts'

/** Our http entries are known by this path on a loopback address, whatever their port or token. */
export const CLAUDE_HOOK_PATH = '/hook/claude-code'
const CLIENT = 'claude-code'
/** Seconds (the client's unit). The pause point gives up after two; a command's process has to start before that. */
const HTTP_TIMEOUT_S = 2
export const COMMAND_TIMEOUT_S = 5
/** SessionStart takes no http hook; the other two start the daemon when it is down. */
const COMMAND_EVENTS = ['SessionStart', 'UserPromptSubmit', 'Stop'] as const
export const HOOK_EVENTS = ['PreToolUse', ...COMMAND_EVENTS] as const
export type ClaudeHookEvent = (typeof HOOK_EVENTS)[number]
const LOOPBACK = ['127.0.0.1', 'localhost', '::1']

export type SettingsPlan = { text: string; changes: string[] }
type Entry = Record<string, unknown>
type Env = Readonly<Record<string, string | undefined>>

/** The hook entry we install for one event. */
export function hookEntry(event: ClaudeHookEvent, request: HookInstall): Entry {
  const whenBroken = event === 'PreToolUse' && request.whenBroken === 'block' ? { onFailure: 'block' } : {}
  if (event !== 'PreToolUse' || request.form === 'command') {
    const { exe, args } = request.hookCommand
    return { type: 'command', command: exe, args: [...args, CLIENT, event], timeout: COMMAND_TIMEOUT_S, ...whenBroken }
  }
  return {
    type: 'http',
    url: request.hookUrl,
    timeout: HTTP_TIMEOUT_S,
    headers: { Authorization: `Bearer ${request.hookToken}`, [ENTRYPOINT_HEADER]: '$CLAUDE_CODE_ENTRYPOINT' },
    allowedEnvVars: ['CLAUDE_CODE_ENTRYPOINT'],
    ...whenBroken,
  }
}

/** How an entry of ours reaches the daemon. */
export const formOf = (entry: Entry): HookForm => (typeof entry.url === 'string' ? 'http' : 'command')

function isOurPath(value: unknown): boolean {
  if (typeof value !== 'string') return false
  return /[\\/]\.holdpoint[\\/]|(?:^|[\\/])holdpoint[^\\/]*$|[\\/]bin[\\/]hook\.cjs$/.test(value)
}

/** Whether a hook entry is one of ours, of any version: by the address's path, or by the program and its arguments. */
function isOurEntry(entry: unknown): boolean {
  if (typeof entry !== 'object' || entry === null) return false
  const { url, command, args } = entry as Entry
  if (typeof url === 'string') {
    const parsed = URL.canParse(url) ? new URL(url) : undefined
    return parsed?.pathname === CLAUDE_HOOK_PATH && [...LOOPBACK, '[::1]'].includes(parsed.hostname)
  }
  return Array.isArray(args) && args.at(-2) === CLIENT && [command, ...args].some(isOurPath)
}

const splitList = (list: string | undefined) =>
  (list ?? '')
    .split(/[,\s]+/)
    .map(s => s.trim())
    .filter(Boolean)

/** Whether requests to loopback stay away from a proxy under this NO_PROXY value. */
export function coversLoopback(noProxy: string | undefined): boolean {
  const entries = splitList(noProxy)
  return entries.includes('*') || entries.includes('127.0.0.1')
}

/** A NO_PROXY value with loopback added at its end; what is there stays as written. */
export function addLoopback(noProxy: string | undefined): string {
  const present = splitList(noProxy)
  if (present.includes('*')) return noProxy!
  const missing = LOOPBACK.filter(host => !present.includes(host))
  if (missing.length === 0) return noProxy!
  return [...(present.length ? [noProxy!.trim().replace(/,$/, '')] : []), ...missing].join(',')
}

/** The shortest value from which `addLoopback` makes this one. */
function withoutLoopback(noProxy: string): string {
  const parts = noProxy.split(',')
  for (let n = 0; n < parts.length; n++) {
    const prefix = parts.slice(0, n).join(',')
    if (addLoopback(prefix) === noProxy) return prefix
  }
  return noProxy
}

/** @throws HookEditError `unparsable` or `wrong_shape`, with line and column */
export function readSettings(text: string): JsonNode & { kind: 'object' } {
  let root: JsonNode
  try {
    root = parseJsonText(text)
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error
    const { line, column, message } = error
    throw new HookEditError('unparsable', `not valid JSON: line ${line}, column ${column}: ${message}`, {
      line,
      column,
    })
  }
  const refuse = (node: JsonNode, what: string): never => {
    const place = placeOf(text, node.start)
    throw new HookEditError('wrong_shape', `line ${place.line}, column ${place.column}: ${what}`, place)
  }
  if (root.kind !== 'object') return refuse(root, 'the settings are not an object')
  const hooks = nodeAt(root, ['hooks'])
  if (hooks && hooks.kind !== 'object') refuse(hooks, 'hooks is not an object')
  for (const event of HOOK_EVENTS) {
    const groups = nodeAt(root, ['hooks', event])
    if (!groups) continue
    if (groups.kind !== 'array') return refuse(groups, `hooks.${event} is not a list`)
    for (const group of groups.items) {
      const entries = nodeAt(group, ['hooks'])
      if (entries?.kind !== 'array') refuse(entries ?? group, `a group of hooks.${event} has no list of hooks`)
    }
  }
  const env = nodeAt(root, ['env'])
  if (env && env.kind !== 'object') return refuse(env, 'env is not an object')
  for (const name of ['NO_PROXY', 'no_proxy']) {
    const node = nodeAt(root, ['env', name])
    if (node && typeof plainOf(node) !== 'string') refuse(node, `env.${name} is not a text`)
  }
  return root
}

export type FoundEntry = { event: ClaudeHookEvent; group: number; index: number; matcher: unknown; entry: Entry }

/** All entries of ours, in the order of the file. */
export function findOurEntries(root: JsonNode): FoundEntry[] {
  const found: FoundEntry[] = []
  for (const event of HOOK_EVENTS) {
    const groups = nodeAt(root, ['hooks', event])
    if (groups?.kind !== 'array') continue
    groups.items.forEach((groupNode, group) => {
      const { matcher, hooks } = plainOf(groupNode) as { matcher?: unknown; hooks?: unknown }
      if (!Array.isArray(hooks)) return
      hooks.forEach((entry, index) => {
        if (isOurEntry(entry)) found.push({ event, group, index, matcher, entry })
      })
    })
  }
  return found
}

/** Removes one entry, and its group, event and `hooks` where that leaves them empty. */
function dropEntry(text: string, { event, group, index }: FoundEntry): string {
  const empty = (path: (string | number)[]) => {
    const node = nodeAt(parseJsonText(text), path)
    return node?.kind === 'array' ? node.items.length === 0 : node?.kind === 'object' && node.members.length === 0
  }
  text = removeIn(text, ['hooks', event, group, 'hooks', index])
  if (!empty(['hooks', event, group, 'hooks'])) return text
  text = removeIn(text, ['hooks', event, group])
  if (!empty(['hooks', event])) return text
  text = removeIn(text, ['hooks', event])
  return empty(['hooks']) ? removeIn(text, ['hooks']) : text
}

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)

/**
 * The settings with our hooks in them. Twice gives the same bytes; entries of ours from another version are replaced
 * where they stand; all else keeps its bytes. `env` is the installer's own: its NO_PROXY is taken over where the
 * settings have none, or the new value would hide a company's.
 * @throws HookEditError for text that must not be edited; RangeError for a request that could not be undone
 */
export function planInstall(text: string | undefined, request: HookInstall, env: Env = {}): SettingsPlan {
  for (const event of HOOK_EVENTS)
    if (!isOurEntry(hookEntry(event, request))) throw new RangeError(`the ${event} hook could not be known again`)
  const changes: string[] = []
  let out = text === undefined || text.trim() === '' ? '{}\n' : text
  const hadHttp = findOurEntries(readSettings(out)).some(({ entry }) => formOf(entry) === 'http')
  for (const event of HOOK_EVENTS) {
    const entry = hookEntry(event, request)
    const [kept, ...extra] = findOurEntries(readSettings(out)).filter(f => f.event === event)
    for (const one of extra.reverse()) {
      out = dropEntry(out, one)
      changes.push(`removed a second ${event} hook of ours`)
    }
    const matches = kept !== undefined && (event !== 'PreToolUse' || kept.matcher === '*')
    if (kept && matches) {
      if (same(kept.entry, entry)) continue
      out = setIn(out, ['hooks', event, kept.group, 'hooks', kept.index], entry)
      const [was, is] = [formOf(kept.entry), formOf(entry)]
      changes.push(was === is ? `updated the ${event} hook` : `changed the ${event} hook from the ${was} form to ${is}`)
      continue
    }
    if (kept) out = dropEntry(out, kept)
    const groups = nodeAt(readSettings(out), ['hooks', event])
    const at = groups?.kind === 'array' ? groups.items.length : 0
    out = setIn(out, ['hooks', event, at], { ...(event === 'PreToolUse' ? { matcher: '*' } : {}), hooks: [entry] })
    changes.push(kept ? `put the ${event} hook back on every tool` : `added a ${event} hook`)
  }
  if (request.form === 'command') {
    if (hadHttp) out = dropLoopback(out, changes)
    return { text: changes.length === 0 && text !== undefined ? text : out, changes }
  }
  for (const [name, other] of [
    ['NO_PROXY', 'no_proxy'],
    ['no_proxy', 'NO_PROXY'],
  ] as const) {
    const root = readSettings(out)
    const set = (n: string) => nodeAt(root, ['env', n]) && (plainOf(nodeAt(root, ['env', n])!) as string)
    const now = set(name) ?? set(other) ?? env[name] ?? env[other]
    const wanted = addLoopback(now)
    if (set(name) === wanted) continue
    out = setIn(out, ['env', name], wanted)
    changes.push(`added loopback to env.${name}`)
  }
  return { text: changes.length === 0 && text !== undefined ? text : out, changes }
}

/**
 * The settings without our hooks and without what we added to NO_PROXY; other entries stay.
 * @throws HookEditError
 */
export function planUninstall(text: string): SettingsPlan {
  const changes: string[] = []
  let out = text
  const found = findOurEntries(readSettings(out))
  for (const one of [...found].reverse()) {
    out = dropEntry(out, one)
    changes.push(`removed the ${one.event} hook`)
  }
  if (found.some(({ entry }) => formOf(entry) === 'http')) out = dropLoopback(out, changes)
  return { text: out, changes }
}

/** Takes what came with an http hook out of NO_PROXY again. */
function dropLoopback(text: string, changes: string[]): string {
  let out = text
  for (const name of ['NO_PROXY', 'no_proxy']) {
    const node = nodeAt(readSettings(out), ['env', name])
    if (!node) continue
    const now = plainOf(node) as string
    const left = withoutLoopback(now)
    if (left === now) continue
    out = left === '' ? removeIn(out, ['env', name]) : setIn(out, ['env', name], left)
    changes.push(`took loopback out of env.${name}`)
  }
  const envNode = nodeAt(readSettings(out), ['env'])
  if (envNode?.kind === 'object' && envNode.members.length === 0) out = removeIn(out, ['env'])
  return out
}

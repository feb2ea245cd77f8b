import type { HookProbe } from '#agent/clients/hook-editor.ts'
import { CLAUDE_HOOK_PATH, COMMAND_TIMEOUT_S } from './settings.ts'

/** What {@link probeSettings} reads, as far as it is what it should be. */
type Settings = { hooks?: Record<string, unknown>; env?: Record<string, unknown> }

const CLIENT = CLAUDE_HOOK_PATH.split('/').at(-1)

/**
 * Our hook for tool calls in the text of settings: the http one at our path, or the program whose last arguments are the
 * client's name and the event's. A header's `$NAME` is a variable of the client's and stays out.
 */
export function probeSettings(text: string | undefined): HookProbe | undefined {
  const settings = readSettings(text)
  const env = Object.fromEntries(
    Object.entries(settings?.env ?? {}).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )
  const groups = settings?.hooks?.PreToolUse
  const hooks = (Array.isArray(groups) ? groups : []).flatMap(
    group => (group as { hooks?: unknown[] } | null)?.hooks ?? [],
  )
  for (const hook of hooks) {
    const { type, url, headers, command, args, timeout } = (hook ?? {}) as Record<string, unknown>
    if (type === 'http' && typeof url === 'string' && URL.canParse(url) && new URL(url).pathname === CLAUDE_HOOK_PATH) {
      const given = Object.entries((headers ?? {}) as Record<string, string>)
      const fixed = given.filter(([, value]) => !String(value).includes('$'))
      return { form: 'http', url, headers: Object.fromEntries(fixed), env }
    }
    if (type !== 'command' || typeof command !== 'string' || !Array.isArray(args)) continue
    const words = args.map(String)
    if (words.at(-2) !== CLIENT || words.at(-1) !== 'PreToolUse') continue
    const timeoutMs = (typeof timeout === 'number' ? timeout : COMMAND_TIMEOUT_S) * 1000
    return { form: 'command', run: { exe: command, args: words }, timeoutMs, env }
  }
  return undefined
}

function readSettings(text: string | undefined): Settings | undefined {
  try {
    return JSON.parse(text ?? '') as Settings
  } catch {
    return undefined
  }
}

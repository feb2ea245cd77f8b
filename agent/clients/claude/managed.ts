/** Claude Code's managed settings: a file of our own among the drop-ins. Pure, but for the other managed files. */
import { HookEditError } from '#agent/clients/hook-editor.ts'
import { type FoundManaged, type ManagedEditor, managedRequest } from '#agent/clients/managed.ts'
import { addLoopback, coversLoopback, findOurEntries, HOOK_EVENTS, hookEntry, readSettings } from './settings.ts'

type Json = Record<string, unknown>

/** Where the machine's administrator says what holds for every user (Linux). */
export const MANAGED_DIR = '/etc/claude-code'

export const claudeManaged: ManagedEditor = {
  file: `${MANAGED_DIR}/managed-settings.d/holdpoint.json`,
  install(before, request, env) {
    if (before !== undefined && !claudeManaged.find(before))
      throw new HookEditError('wrong_shape', 'the file is there and is not ours; move it away first')
    const hooks = Object.fromEntries(
      HOOK_EVENTS.map(event => [
        event,
        [{ ...(event === 'PreToolUse' ? { matcher: '*' } : {}), hooks: [hookEntry(event, managedRequest(request))] }],
      ]),
    )
    const noProxy = (name: string, other: string) => addLoopback(env[name] ?? env[other])
    const settings = {
      hooks,
      // a user's own http hook would go to a proxy that a project's settings name
      env: { NO_PROXY: noProxy('NO_PROXY', 'no_proxy'), no_proxy: noProxy('no_proxy', 'NO_PROXY') },
      allowModsToOverrideDenyRules: false,
    }
    const text = `${JSON.stringify(settings, null, 2)}\n`
    if (text === before) return { text, changes: [] }
    return {
      text,
      changes: [before === undefined ? 'set the hooks for every user' : 'updated the hooks of every user'],
    }
  },
  remove: before =>
    claudeManaged.find(before)
      ? { text: undefined, changes: ['removed the hooks of every user'] }
      : { text: before, changes: [] },
  find(text): FoundManaged | undefined {
    let settings: Json
    let ours: ReturnType<typeof findOurEntries>
    try {
      ours = findOurEntries(readSettings(text))
      settings = JSON.parse(text) as Json
    } catch {
      return undefined
    }
    if (ours.length === 0) return undefined
    const main = ours.find(({ event }) => event === 'PreToolUse')
    const env = (settings.env ?? {}) as Record<string, string | undefined>
    const isNarrowed =
      main && (!['*', '', undefined].includes(main.matcher as string | undefined) || Number(main.entry.timeout) < 1)
    const troubles = [
      ...(main ? [] : ['The PreToolUse hook is missing there: no tool call is seen.']),
      ...(isNarrowed || main?.entry.async || main?.entry.if || main?.entry.once
        ? ['The PreToolUse hook there was narrowed, so that calls pass it by.']
        : []),
      ...(settings.disableAllHooks === true ? ['disableAllHooks there switches them off.'] : []),
      ...(settings.allowModsToOverrideDenyRules === false ? [] : ['Extensions may overrule a user’s own hooks.']),
    ]
    const programs = main
      ? [main.entry.command, ...(Array.isArray(main.entry.args) ? main.entry.args : [])].filter(
          (word): word is string => typeof word === 'string' && word.startsWith('/'),
        )
      : []
    return {
      whole: main !== undefined && !isNarrowed && settings.disableAllHooks !== true && troubles.length === 0,
      troubles,
      coversLoopback: coversLoopback(env.NO_PROXY) && coversLoopback(env.no_proxy),
      programs,
    }
  },
}

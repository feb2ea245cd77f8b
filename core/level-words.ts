import type { Level } from './client.ts'

/** How far an agent program's hook holds, in a few words. */
export const LEVEL_NAMES: Readonly<Record<Level, string>> = {
  managed: 'managed',
  'managed-hook-user-daemon': 'managed hook, user daemon',
  'user-hook': 'user hook',
  'advice-only': 'advice only',
  idle: 'idle',
  'figure-unread': 'figure unread',
  broken: 'broken or switched off',
  'not-installed': 'not installed',
}

/** What would let a client's agent past the pause point, or keeps it from binding. */
const SWITCHED_OFF_BY: Record<string, string> = {
  hooks_disabled_by_user: 'the user’s settings switch hooks off',
  hooks_disabled_by_project: 'a project’s settings switch hooks off',
  proxy_diverts_hook: 'a proxy variable diverts the hook',
  environment_diverts_hook: 'a variable in the settings runs other code in the hook',
  hook_edited: 'the hook was edited',
  hook_not_trusted: 'the client was not told to trust the hook',
  client_too_old: 'the client is too old',
  mods_may_overrule: 'an extension may overrule the hook',
  managed_only: 'the client heeds managed hooks only',
  url_not_allowed: 'the client does not allow the hook’s address',
  settings_unreadable: 'the client’s settings cannot be read',
  canary_failed: 'the test call did not come through',
  other: 'something that this server does not know yet, being older than the connector',
}
export const switchedOffWords = (name: string): string => SWITCHED_OFF_BY[name] ?? name.replaceAll('_', ' ')

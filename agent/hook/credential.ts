import type { Credential } from '#agent/clients/usage-source.ts'

/** In the order in which the client takes them. */
const SIGNS: readonly [Credential, readonly string[]][] = [
  [
    'cloud',
    [
      'CLAUDE_CODE_USE_BEDROCK',
      'CLAUDE_CODE_USE_VERTEX',
      'CLAUDE_CODE_USE_FOUNDRY',
      'CLAUDE_CODE_USE_MANTLE',
      'CLAUDE_CODE_USE_ANTHROPIC_AWS',
      'CLAUDE_CODE_USE_ANTHROPIC_GOOGLE_CLOUD',
    ],
  ],
  ['gateway', ['ANTHROPIC_AUTH_TOKEN']],
  ['key', ['ANTHROPIC_API_KEY']],
  ['token', ['CLAUDE_CODE_OAUTH_TOKEN', 'CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR']],
]

/**
 * How Claude Code signs in, as the environment that it gives to its hooks shows: that something is set there, and nothing of
 * what it is set to. `none`: whatever its own login says.
 */
export function credentialIn(env: Readonly<Record<string, string | undefined>>): Credential {
  return SIGNS.find(([, names]) => names.some(name => Boolean(env[name])))?.[0] ?? 'none'
}

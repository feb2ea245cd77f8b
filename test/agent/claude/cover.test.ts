import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { claude } from '#agent/clients/claude/claude.ts'
import type { Credential } from '#agent/clients/usage-source.ts'
import { credentialIn } from '#agent/hook/credential.ts'

let homeDir: string
beforeEach(() => {
  homeDir = mkdtempSync(join(tmpdir(), 'cover-'))
})
afterEach(() => rmSync(homeDir, { recursive: true, force: true }))

const account = (value: unknown) =>
  writeFileSync(join(homeDir, '.claude.json'), typeof value === 'string' ? value : JSON.stringify(value))
const signedIn = (billingType?: string) =>
  account({ oauthAccount: { emailAddress: 'dev@example.com', billingType }, primaryApiKey: 'sk-secret' })
const cover = (credential: Credential, { attended = false, cwd = '' } = {}) =>
  claude.coverOf!({ homeDir, env: {} }, { credential, attended, cwd })

describe('whether a plan covers a session of Claude Code', () => {
  it.each([
    ['stripe_subscription', 'plan'],
    ['apple_subscription', 'plan'],
    ['usage_based', 'metered'],
    ['prepaid', 'unknown'],
    [undefined, 'unknown'],
  ] as const)('a login that is billed by %s is %s', (billing, covered) => {
    signedIn(billing)
    expect(cover('none')).toBe(covered)
  })

  it('is unknown where nobody has signed in, and where the file cannot be read as one', () => {
    expect(cover('none')).toBe('unknown')
    for (const odd of ['', '{', '[]', 'null', '{"oauthAccount":7}', '{"oauthAccount":{"billingType":{}}}']) {
      account(odd)
      expect(cover('none'), odd).toBe('unknown')
    }
  })

  it('goes by what the client’s own process uses before the login', () => {
    signedIn('stripe_subscription')
    expect(cover('cloud')).toBe('metered')
    expect(cover('gateway')).toBe('unknown')
    expect(cover('token')).toBe('plan')
    expect(cover('key')).toBe('metered')
    // a person may have said no to the key, and the login is used then
    expect(cover('key', { attended: true })).toBe('unknown')
    rmSync(join(homeDir, '.claude.json'))
    expect(cover('key', { attended: true })).toBe('metered')
  })

  it('a program that makes keys goes before the login, wherever settings name it', () => {
    signedIn('stripe_subscription')
    const project = join(homeDir, 'project')
    mkdirSync(join(project, '.claude'), { recursive: true })
    writeFileSync(join(project, '.claude', 'settings.json'), '{"apiKeyHelper":"/bin/key"}')
    expect(cover('none')).toBe('plan')
    expect(cover('none', { cwd: project })).toBe('metered')
    mkdirSync(join(homeDir, '.claude'))
    writeFileSync(join(homeDir, '.claude', 'settings.json'), '{"apiKeyHelper":"/bin/key"}')
    expect(cover('token')).toBe('metered')
  })
})

it('of a hook’s environment only that something is set is told', () => {
  expect(credentialIn({})).toBe('none')
  expect(credentialIn({ ANTHROPIC_API_KEY: '' })).toBe('none')
  expect(credentialIn({ ANTHROPIC_API_KEY: 'sk-secret' })).toBe('key')
  expect(credentialIn({ ANTHROPIC_API_KEY: 'sk-secret', ANTHROPIC_AUTH_TOKEN: 'b' })).toBe('gateway')
  expect(credentialIn({ ANTHROPIC_AUTH_TOKEN: 'b', CLAUDE_CODE_USE_BEDROCK: '1' })).toBe('cloud')
  expect(credentialIn({ CLAUDE_CODE_OAUTH_TOKEN: 'secret' })).toBe('token')
})

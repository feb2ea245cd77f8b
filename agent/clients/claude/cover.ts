import type { Credential } from '#agent/clients/usage-source.ts'
import type { Covered } from '#core/usage/bucket.ts'

/** Kinds of billing in the client's own account record that are a plan's, as its program lists them (2.1.332). */
const OF_PLANS = [
  'stripe_subscription',
  'stripe_subscription_contracted',
  'stripe_subscription_enterprise_self_serve',
  'aws_marketplace',
  'c4e_consumption_trial',
  'apple_subscription',
  'google_play_subscription',
]

/** What the client's own files say of who is signed in; nothing else of them is kept. */
export type ClaudeAccount = {
  /** Somebody has signed in by a browser. */
  isSignedIn: boolean
  /** How that account is billed, where it says so. */
  billing?: string | undefined
  /** A program that makes keys is set, which goes before the login. */
  hasKeyHelper: boolean
}

/** The members of ~/.claude.json that say how the account is billed; undefined where the text is no such file. */
export function accountIn(text: string): Omit<ClaudeAccount, 'hasKeyHelper'> | undefined {
  try {
    const { oauthAccount } = JSON.parse(text) as { oauthAccount?: { billingType?: unknown } | null }
    if (typeof oauthAccount !== 'object' || oauthAccount === null) return { isSignedIn: false }
    const { billingType } = oauthAccount
    return { isSignedIn: true, ...(typeof billingType === 'string' ? { billing: billingType } : {}) }
  } catch {
    return undefined
  }
}

/**
 * Whether a plan covers a session. A cloud's or a key's calls are each paid for, a token of one's own (`setup-token`) belongs to
 * a plan. Who pays behind a gateway nobody here knows. At the keyboard a key is taken only where the person agreed to it, which
 * is kept as a part of the key and not looked at: with a login beside it that is unknown.
 */
export function coverIn(credential: Credential, attended: boolean, account: ClaudeAccount): Covered {
  const byLogin = account.isSignedIn ? coverOfLogin(account.billing) : 'unknown'
  if (credential === 'cloud') return 'metered'
  if (credential === 'gateway') return 'unknown'
  if (credential === 'key') return attended && account.isSignedIn && byLogin !== 'metered' ? 'unknown' : 'metered'
  if (account.hasKeyHelper) return 'metered'
  return credential === 'token' ? 'plan' : byLogin
}

function coverOfLogin(billing: string | undefined): Covered {
  if (billing === undefined) return 'unknown'
  return OF_PLANS.includes(billing) ? 'plan' : billing === 'usage_based' ? 'metered' : 'unknown'
}

/** Whose calls an entry of telemetry is about, from attributes of either level. */

import { hash } from 'node:crypto'
import { TAG_KEYS_MAX } from '#core/limits.ts'
import { PROVIDERS, type Provider } from '#core/pricing.ts'
import { modelId, UNKNOWN_MODEL, type UsageClient } from '#core/usage/bucket.ts'
import { TAG_KEY, TAG_VALUE, type Tags } from '#core/usage/tags.ts'
import { type Attributes, textOf } from './entries.ts'
import { SESSION } from './observed.ts'

/** Attributes `holdpoint.tenant=acme` say to whom a run belongs, as HOLDPOINT_TAGS does for a hook. */
const TAG_PREFIX = 'holdpoint.'

/** The clients by the name of their service. */
const SERVICES: readonly [RegExp, UsageClient][] = [
  [/^claude[-_]code/, 'claude-code'],
  [/^codex/, 'codex'],
  [/^opencode/, 'opencode'],
  [/^gemini[-_]cli/, 'gemini'],
  [/^(github[-_.])?copilot/, 'copilot'],
  [/^cursor/, 'cursor'],
]

export const clientOf = (attributes: Attributes): UsageClient => {
  const service = textOf(attributes, 'service.name')?.toLowerCase() ?? ''
  return SERVICES.find(([name]) => name.test(service))?.[1] ?? 'other'
}

/** Names of OpenTelemetry's list as the card has them. Who only resells leaves the model to say whose it is. */
const PROVIDER_NAMES: Readonly<Record<string, Provider>> = {
  'gcp.gemini': 'google',
  'gcp.gen_ai': 'google',
  x_ai: 'x-ai',
  xai: 'x-ai',
  mistral_ai: 'mistral',
  moonshot_ai: 'moonshotai',
  firstparty: 'anthropic',
}

/** The provider by the conventions' names; undefined where none is told or known. */
export function providerOf(attributes: Attributes): Provider | undefined {
  const said = textOf(attributes, 'gen_ai.provider.name', 'gen_ai.system', 'anthropic.provider')?.toLowerCase()
  if (said === undefined) return undefined
  return PROVIDER_NAMES[said] ?? PROVIDERS.find(name => name === said && name !== 'other')
}

/** What is on no list is `unknown`, and priced at the bound. */
export const modelOf = (attributes: Attributes): string =>
  modelId(textOf(attributes, 'gen_ai.response.model', 'gen_ai.request.model', 'model') ?? '')

/** Claude Code's own attributes. A faster speed has prices of its own, which the plain id must not stand for. */
export function ofClaude(attributes: Attributes): { client: 'claude-code'; model: string } {
  const speed = textOf(attributes, 'speed')
  const isPlain = speed === undefined || speed === 'normal' || speed === 'standard'
  return { client: 'claude-code', model: isPlain ? modelOf(attributes) : UNKNOWN_MODEL }
}

/** The session's id as the client tells it; undefined where there is none, or it is no id. */
export function sessionOf(attributes: Attributes): string | undefined {
  const said = textOf(attributes, 'session.id', 'gen_ai.conversation.id')
  return said !== undefined && SESSION.test(said) ? said : undefined
}

/** Tags of well-formed keys and values, so many at the most; undefined where there are none. */
export function tagsOf(attributes: Attributes): Tags | undefined {
  const tags: Record<string, string> = {}
  for (const [name, value] of attributes) {
    const key = name.startsWith(TAG_PREFIX) ? name.slice(TAG_PREFIX.length) : ''
    if (!TAG_KEY.test(key) || typeof value !== 'string' || !TAG_VALUE.test(value)) continue
    if (Object.keys(tags).length < TAG_KEYS_MAX) tags[key] = value
  }
  return Object.keys(tags).length > 0 ? tags : undefined
}

/** What one process says of itself at either level and in all it sends. */
const SOURCE = ['service.name', 'service.namespace', 'service.instance.id', 'host.name', 'container.id', 'user.id']
const sourceOf = (attributes: Attributes): string =>
  hash('sha256', JSON.stringify(SOURCE.map(key => attributes.get(key) ?? null)), 'base64url').slice(0, 22)

/** Whose a call or a sum is, and of what model; the session and the tags as far as they are told. */
export function whoOf(attributes: Attributes) {
  const session = sessionOf(attributes)
  const provider = providerOf(attributes)
  const tags = tagsOf(attributes)
  return {
    client: clientOf(attributes),
    source: sourceOf(attributes),
    model: modelOf(attributes),
    ...(session === undefined ? {} : { session }),
    ...(provider === undefined ? {} : { provider }),
    ...(tags === undefined ? {} : { tags }),
  }
}

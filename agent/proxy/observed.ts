import { hash, randomBytes } from 'node:crypto'
import { ID, type ObservedCall } from '#agent/otlp/observed.ts'
import { areSound } from '#core/usage/bucket.ts'
import type { AnswerUsage } from './answer-usage.ts'
import type { Target } from './target.ts'
import type { Who } from './who.ts'

/** Clients whose own records have the provider's id of a call, so that the two are known for one. */
const RECORDS_HAVE_IDS = ['claude-code', 'codex']

/**
 * One call as the ledger takes it. An answer without counts is a call all the same: it stands there with none and as one that
 * broke off. Undefined for counts that no call can have.
 */
export function observedCall(
  { upstream, tags }: Pick<Target, 'upstream' | 'tags'>,
  who: Who,
  { id, model, tokens, told, whole }: AnswerUsage,
  requestId: string | undefined,
  atMs: number,
): ObservedCall | undefined {
  if (!areSound(tokens)) return undefined
  const ids = [...new Set([id, requestId])].filter((one): one is string => one !== undefined && ID.test(one))
  const { client, session } = who
  return {
    kind: 'call',
    client,
    source: hash('sha256', `proxy ${client} ${upstream.name}`, 'base64url').slice(0, 22),
    model,
    provider: upstream.provider,
    atMs,
    tokens,
    ids: ids.length > 0 ? ids : [`proxy-${randomBytes(12).toString('hex')}`],
    ...(session === undefined ? {} : { session }),
    ...(Object.keys(tags).length > 0 ? { tags } : {}),
    ...(told && whole ? {} : { partial: true as const }),
    ...(id !== undefined && ID.test(id) && RECORDS_HAVE_IDS.includes(client) ? { isRecordsId: true as const } : {}),
  }
}

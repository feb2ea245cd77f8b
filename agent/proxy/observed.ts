import { hash, randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { ID, type ObservedCall } from '#agent/otlp/observed.ts'
import { areSound } from '#core/usage/bucket.ts'
import type { AnswerUsage } from './answer-usage.ts'
import type { Target } from './target.ts'
import type { Who } from './who.ts'

/** Clients whose own records have the provider's id of a call, so that the two are known for one. */
const RECORDS_HAVE_IDS = ['claude-code', 'codex']

/**
 * The response's id, and the provider's id of the request, which telemetry tells of. What is not made by the provider may be one
 * for many calls (a gateway that gives a client's own header back), and counts only where there is nothing else.
 */
function idsOf(id: string | undefined, headers: IncomingHttpHeaders): string[] {
  const given = [headers['request-id'], headers['x-request-id']].filter(one => typeof one === 'string')
  const made = given.filter(one => /^req_[A-Za-z0-9]{3,}$/.test(one))
  const ids = [...new Set(id === undefined ? given : [id, ...made])].filter(one => ID.test(one))
  return ids.slice(0, 3)
}

/**
 * One call as the ledger takes it. An answer without counts is a call all the same: it stands there with none and as one that
 * broke off. Undefined for counts that no call can have.
 */
export function observedCall(
  { upstream, tags }: Pick<Target, 'upstream' | 'tags'>,
  who: Who,
  { id, model, tokens, told, whole }: AnswerUsage,
  headers: IncomingHttpHeaders,
  atMs: number,
): ObservedCall | undefined {
  if (!areSound(tokens)) return undefined
  const ids = idsOf(id, headers)
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

import type { Incoming, Reply, Route } from '#agent/daemon/door.ts'
import {
  BodyRefused,
  type Encoding,
  encodingOf,
  failedAnswer,
  OTLP_BODY_MAX,
  OTLP_TYPES,
  readBody,
  takenAnswer,
} from './body.ts'
import { amountOf, ENTRIES_MAX, entriesOf } from './entries.ts'
import { readCalls } from './read-calls.ts'
import { readSums } from './read-sums.ts'
import type { Signal } from './schema.ts'
import type { Telemetry } from './telemetry.ts'

type Deps = { telemetry: Telemetry; now(): number; log(line: string): void }

/** `POST /v1/logs`, `/v1/traces`, `/v1/metrics`: OTLP over HTTP, as JSON or protocol buffers. */
export const otlpRoute = (deps: Deps): Route => ({
  method: 'POST',
  path: /^\/v1\/(logs|traces|metrics)$/,
  token: 'otlp',
  bodyMax: OTLP_BODY_MAX,
  types: {
    pattern: OTLP_TYPES,
    words:
      'Telemetry is taken as application/json or application/x-protobuf (OTEL_EXPORTER_OTLP_PROTOCOL=http/json or http/protobuf).',
  },
  handle: (incoming, match) => takeBatch(deps, match[1] as Signal, incoming),
})

async function takeBatch({ telemetry, now, log }: Deps, signal: Signal, { headers, body }: Incoming): Promise<Reply> {
  const encoding = encodingOf(headers['content-type'])
  const reply = (status: number, bytes: Buffer): Reply => ({ status, bytes, type: typeOf(encoding) })
  try {
    const packed = headers['content-encoding']?.toLowerCase()
    const entries = entriesOf(signal, await readBody(signal, body, { encoding, packed }))
    if (entries === undefined) throw new BodyRefused(400, `The body is no ${signal} request.`)
    if (amountOf(entries) > ENTRIES_MAX)
      throw new BodyRefused(413, `The body has more than ${ENTRIES_MAX} entries; send smaller batches.`)
    const { seen, rejected, outer } = read(signal, entries, now())
    try {
      telemetry.take(seen, { rejected, outer })
      telemetry.note(undefined)
    } catch (error) {
      const why = (error as Error).message
      log(`telemetry was not taken: ${why}`)
      telemetry.note(why)
      return reply(503, failedAnswer(encoding, 503, 'It could not be kept; send it again.'))
    }
    return reply(200, takenAnswer(signal, encoding, rejected))
  } catch (error) {
    if (!(error instanceof BodyRefused)) throw error
    return reply(error.status, failedAnswer(encoding, error.status, error.message))
  }
}

function read(signal: Signal, entries: Parameters<typeof readCalls>[0], nowMs: number) {
  if (signal === 'metrics') {
    const { sums, rejected } = readSums(entries)
    return { seen: sums, rejected, outer: 0 }
  }
  const { calls, rejected, outer } = readCalls(entries, nowMs)
  return { seen: calls, rejected, outer }
}

const typeOf = (encoding: Encoding) => (encoding === 'protobuf' ? 'application/x-protobuf' : 'application/json')

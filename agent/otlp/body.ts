/** A request's bytes as the value they stand for, in either encoding. https://opentelemetry.io/docs/specs/otlp/#otlphttp */
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { ProtobufError, readProtobuf, wrapMessage, writePair } from './protobuf.ts'
import { REQUESTS, SIGNALS, type Signal } from './schema.ts'

/** A batch of 512 entries with whole prompts in them stays below; what is larger is sent in smaller batches. */
export const OTLP_BODY_MAX = 4 * 1024 * 1024
const UNPACKED_MAX = 8 * 1024 * 1024
/** Objects and lists of a JSON body, brackets in its texts counted as well: of millions the parsed form takes half a gigabyte. */
const BRACKETS_MAX = 400_000

export type Encoding = 'json' | 'protobuf'
const JSON_TYPE = /^application\/json\s*(;.*)?$/i
const PROTOBUF_TYPE = /^application\/(x-)?protobuf\s*(;.*)?$/i
export const OTLP_TYPES = new RegExp(`${JSON_TYPE.source}|${PROTOBUF_TYPE.source}`, 'i')

export const encodingOf = (contentType: string | undefined): Encoding =>
  PROTOBUF_TYPE.test(contentType ?? '') ? 'protobuf' : 'json'

/** Why a body is refused: with a status that an exporter does not try again. */
export class BodyRefused extends Error {
  constructor(
    readonly status: 400 | 413 | 415,
    message: string,
  ) {
    super(message)
  }
}

const unpack = promisify(gunzip)

/** @throws BodyRefused */
export async function readBody(
  signal: Signal,
  body: Buffer,
  { encoding, packed }: { encoding: Encoding; packed: string | undefined },
): Promise<unknown> {
  const bytes = await unpacked(body, packed)
  if (encoding === 'json' && hasTooMany(bytes)) throw new BodyRefused(413, 'The body holds too many values.')
  try {
    return encoding === 'protobuf' ? readProtobuf(bytes, REQUESTS[signal]) : JSON.parse(bytes.toString('utf8'))
  } catch (error) {
    if (error instanceof ProtobufError)
      throw new BodyRefused(400, `The body is no ${signal} request: ${error.message}.`)
    if (error instanceof SyntaxError) throw new BodyRefused(400, 'The body is not JSON.')
    throw error
  }
}

function hasTooMany(json: Buffer): boolean {
  let count = 0
  for (const byte of json) if ((byte === 0x7b || byte === 0x5b) && ++count > BRACKETS_MAX) return true
  return false
}

async function unpacked(body: Buffer, packed = 'identity'): Promise<Buffer> {
  if (packed === 'identity' || packed === '') return body
  if (packed !== 'gzip') throw new BodyRefused(415, 'Bodies are taken as they are, or packed with gzip.')
  try {
    return await unpack(body, { maxOutputLength: UNPACKED_MAX })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE')
      throw new BodyRefused(413, 'The body is larger than 8 MiB when it is unpacked.')
    throw new BodyRefused(400, 'The body is not what gzip packs.')
  }
}

/** The answer to a batch that was taken; `rejected`: how much of it could not be, and is not to be sent again. */
export function takenAnswer(signal: Signal, encoding: Encoding, rejected: number): Buffer {
  const why = 'counts of tokens that are no counts'
  if (encoding === 'protobuf') return Buffer.from(rejected === 0 ? [] : wrapMessage(writePair(rejected, why)))
  const partialSuccess = { [SIGNALS[signal].rejected]: String(rejected), errorMessage: why }
  return Buffer.from(JSON.stringify(rejected === 0 ? {} : { partialSuccess }))
}

const STATUS_CODES: Readonly<Record<number, number>> = { 400: 3, 413: 8, 415: 3, 503: 14 }

/** A failure, as google.rpc.Status in the request's own encoding. */
export function failedAnswer(encoding: Encoding, status: number, message: string): Buffer {
  const code = STATUS_CODES[status] ?? 2
  return Buffer.from(encoding === 'protobuf' ? writePair(code, message) : JSON.stringify({ code, message }))
}

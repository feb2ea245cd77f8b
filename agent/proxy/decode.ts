/** A copy of a packed answer is unpacked beside it, so that its usage can be read and its bytes go on as they came. */
import * as zlib from 'node:zlib'

type Decoder = { take(chunk: Buffer): void; end(): Promise<void> }

type Zstd = { createZstdDecompress?: () => zlib.Gunzip }
const { createZstdDecompress } = zlib as unknown as Zstd

const gzip = () => zlib.createGunzip({ finishFlush: zlib.constants.Z_SYNC_FLUSH })
const MAKERS: Readonly<Record<string, (() => zlib.Gunzip) | undefined>> = {
  gzip,
  'x-gzip': gzip,
  deflate: () => zlib.createInflate({ finishFlush: zlib.constants.Z_SYNC_FLUSH }) as unknown as zlib.Gunzip,
  br: () =>
    zlib.createBrotliDecompress({
      finishFlush: zlib.constants.BROTLI_OPERATION_FLUSH,
    }) as unknown as zlib.Gunzip,
  zstd: createZstdDecompress,
}

/** Packings that this Node cannot undo: they are not asked for. */
export const UNREAD_ENCODINGS: readonly string[] = createZstdDecompress ? [] : ['zstd']

/** Hands on what the chunks hold; undefined for a packing that is not known here. */
export function makeDecoder(encoding: string | undefined, onData: (chunk: Buffer) => void): Decoder | undefined {
  const name = (encoding ?? '').trim().toLowerCase()
  if (name === '' || name === 'identity') return { take: onData, end: () => Promise.resolve() }
  const make = MAKERS[name]
  if (!make) return undefined
  const stream = make()
  const ended = new Promise<void>(resolve => {
    stream.once('end', resolve)
    // cut off, or not what it says it is: what came until then stands
    stream.once('error', () => resolve())
    stream.once('close', resolve)
  })
  stream.on('data', onData)
  return {
    take: chunk => {
      if (!stream.destroyed && !stream.writableEnded) stream.write(chunk)
    },
    end: () => {
      if (!stream.destroyed && !stream.writableEnded) stream.end()
      return ended
    },
  }
}

import { createHash } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { z } from 'zod'
import { log } from '../log.ts'

/** The connector as it is handed out: the bytes are held in memory, read again when the build has changed. */
export type Bundle = { version: string; sha256: string; size: number; code: Buffer }

const Manifest = z.object({ version: z.string(), sha256: z.string().regex(/^[0-9a-f]{64}$/), bytes: z.number() })
const folder = () => process.env.HOLDPOINT_CONNECTOR || path.resolve('agent/dist')

let held: { stamp: string; bundle: Bundle | undefined } | undefined

/** The built connector; undefined when there is none, or when its bytes are not the ones that its manifest promises. */
export async function connectorBundle(): Promise<Bundle | undefined> {
  const dir = folder()
  const place = path.join(dir, 'manifest.json')
  const { mtimeMs, ino } = await stat(place).catch(() => ({ mtimeMs: 0, ino: 0 }))
  const stamp = `${dir} ${mtimeMs} ${ino}`
  if (held?.stamp !== stamp) held = { stamp, bundle: mtimeMs === 0 ? undefined : await read(dir, place) }
  return held.bundle
}

async function read(dir: string, place: string): Promise<Bundle | undefined> {
  try {
    const manifest = Manifest.parse(JSON.parse(await readFile(place, 'utf8')))
    const code = await readFile(path.join(dir, 'holdpoint.cjs'))
    const sha256 = createHash('sha256').update(code).digest('hex')
    if (sha256 !== manifest.sha256) throw new Error('holdpoint.cjs has another SHA-256 than its manifest names')
    return { version: manifest.version, sha256, size: code.length, code }
  } catch (error) {
    log.error('connector.bundle_unreadable', error)
    return undefined
  }
}

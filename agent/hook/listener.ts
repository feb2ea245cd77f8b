/** Whether the one who listens on the daemon's port is the daemon. Only at a session's start. */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readRegular } from '#agent/regular-file.ts'
import { askLoopback, type DoorAddress } from './loopback.ts'

/** Why the listener is not ours; undefined = it proved itself. @throws LoopbackFailure when nobody answers */
export async function findImpostor(home: string, at: DoorAddress, timeoutMs: number): Promise<string | undefined> {
  const uid = 'port' in at ? listenerUid(at.port) : undefined
  if (uid !== undefined && uid !== process.getuid?.()) return `the port belongs to user ${uid}`
  const nonce = randomBytes(16).toString('hex')
  const { status, body } = await askLoopback({ ...at, method: 'GET', path: `/prove?n=${nonce}`, timeoutMs })
  const secret = readRegular(join(home, 'secret'), { maxBytes: 32, own: true })
  if (!('bytes' in secret)) return 'this machine’s secret cannot be read, so nobody can prove anything'
  const expected = expectedProof(secret.bytes, nonce)
  const given = Buffer.from(body.trim(), 'latin1')
  const same = given.length === expected.length && timingSafeEqual(given, Buffer.from(expected, 'latin1'))
  return status === 200 && same ? undefined : 'the listener could not prove that it is the daemon'
}

/** HMAC-SHA-256 of the nonce's text under the machine's secret, in hexadecimal. */
function expectedProof(secret: Buffer, nonce: string): string {
  return createHmac('sha256', secret).update(nonce).digest('hex')
}

/**
 * The user that listens on 127.0.0.1:port, from Linux' table of sockets (proc(5), /proc/net/tcp: address, state 0A =
 * listening, uid in the eighth column); undefined where that cannot be read.
 */
export function listenerUid(port: number): number | undefined {
  let table: string
  try {
    table = readFileSync('/proc/net/tcp', 'latin1')
  } catch {
    return undefined
  }
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  for (const line of table.split('\n').slice(1)) {
    const fields = line.trim().split(/\s+/)
    const at = fields[1]
    if (fields[3] === '0A' && at?.endsWith(local) && (at.startsWith('0100007F') || at.startsWith('00000000')))
      return Number(fields[7])
  }
  return undefined
}

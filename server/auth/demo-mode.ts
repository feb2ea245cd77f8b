import { env } from '../env.ts'
import { isLoopback, readDoor } from './door.ts'

/**
 * Demo mode: no SMTP_URL and a public address on loopback. Mail is then kept in the database, and every sign-in by e-mail is
 * marked as a demo's, because everyone who can open the mailbox page could have read the code.
 */
export function isDemoMode(): boolean {
  return env().smtpUrl === undefined && isLoopback(new URL(env().publicUrl).hostname)
}

/**
 * Whether a request may see the demo mailbox: demo mode, and loopback in the Host header and at the socket, and nothing
 * that forwarded it. Whatever is unknown counts against it.
 */
export function isDirectLocal(headers: Headers): boolean {
  if (!isDemoMode()) return false
  const door = readDoor(headers)
  if (!door || door.forwarded || !isLoopback(door.address)) return false
  const host = /^(.*?)(:\d+)?$/.exec(headers.get('host') ?? '')?.[1] ?? ''
  return isLoopback(host)
}

import { randomBytes, timingSafeEqual } from 'node:crypto'
import { subscribe } from 'node:diagnostics_channel'
import type { IncomingMessage } from 'node:http'

/**
 * What only the socket knows. Next fills in X-Forwarded-* by itself before a route sees a request and hides the socket, so
 * the two facts are noted on each request as Node takes it in (the channel is published before any listener runs): the peer's address, and whether the request itself
 * came with a forwarding header. The note carries a key of this process, so that no client can write it.
 */
const NOTE = 'x-holdpoint-door'
const FORWARDED =
  /^(forwarded|via|x-forwarded(-.*)?|x-(original|real|client|cluster)-.*|(cf|fly|fastly|true)-(connecting|client)-ip)$/
const holder = globalThis as unknown as { holdpointDoorKey?: string }

/** Starts noting; once per process, before it serves. */
export function watchDoor(): void {
  if (holder.holdpointDoorKey) return
  const key = randomBytes(24).toString('base64url')
  holder.holdpointDoorKey = key
  subscribe('http.server.request.start', message => {
    const { request } = message as { request: IncomingMessage }
    const forwarded = Object.keys(request.headers).some(name => FORWARDED.test(name))
    request.headers[NOTE] = `${key} ${request.socket.remoteAddress ?? ''} ${forwarded ? 'forwarded' : 'direct'}`
  })
}

/** The note of a request; undefined when it did not come through a watched door: then nothing is known. */
export function readDoor(headers: Headers): { address: string; forwarded: boolean } | undefined {
  const [key = '', address = '', way = ''] = (headers.get(NOTE) ?? '').split(' ')
  const own = holder.holdpointDoorKey
  if (!own || key.length !== own.length || !timingSafeEqual(Buffer.from(key), Buffer.from(own))) return undefined
  return { address: address.replace(/^::ffff:/, ''), forwarded: way !== 'direct' }
}

/** Whether an address or host name is this machine itself. */
export const isLoopback = (host: string): boolean => /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i.test(host)

import { BlockList, isIP } from 'node:net'
import { readDoor } from './door.ts'

/**
 * The address that counts for rate limits: the socket's peer. X-Forwarded-For is believed only from the proxies named in
 * HOLDPOINT_TRUSTED_PROXIES (addresses or networks such as 10.0.0.0/8, comma-separated; `loopback` for this machine), read
 * from its right end past those proxies. `unknown` is one shared bucket: limits then hold for all unknown clients together.
 */
export function clientAddress(headers: Headers, trusted: string = process.env.HOLDPOINT_TRUSTED_PROXIES ?? ''): string {
  const peer = readDoor(headers)?.address
  if (!peer || !isIP(peer)) return 'unknown'
  const proxies = listOf(trusted)
  const hops = (headers.get('x-forwarded-for') ?? '').split(',').map(hop => hop.trim().replace(/^::ffff:/, ''))
  let address = peer
  while (isIn(proxies, address)) {
    const before = hops.pop()
    if (!before || !isIP(before)) break
    address = before
  }
  return address
}

function listOf(text: string): BlockList {
  const list = new BlockList()
  for (const entry of text
    .split(',')
    .map(part => part.trim())
    .filter(Boolean)) {
    const [address = '', bits] = entry === 'loopback' ? ['127.0.0.0', '8'] : entry.split('/')
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    if (isIP(address)) list.addSubnet(address, Number(bits ?? (family === 'ipv6' ? 128 : 32)), family)
    if (entry === 'loopback') list.addAddress('::1', 'ipv6')
  }
  return list
}

const isIn = (list: BlockList, address: string): boolean => list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')

/** The way to upstreams through the HTTP proxy of a company, as `HTTPS_PROXY` and `NO_PROXY` name it. */
import { Agent, type AgentOptions, type RequestOptions } from 'node:https'
import { connect as connectPlain, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { connect as connectTls } from 'node:tls'
import { isLoopbackHost } from '#core/loopback.ts'

export type ProxyEnv = Readonly<Record<string, string | undefined>>

const CONNECT_MS = 15_000
/** An answer to CONNECT is a few lines. */
const HEAD_MAX = 16 * 1024

/** The proxy for https addresses; undefined where none is named, or its address is none. */
export function companyProxy(env: ProxyEnv): URL | undefined {
  const said = env.https_proxy || env.HTTPS_PROXY
  if (!said || !URL.canParse(said)) return undefined
  const url = new URL(said)
  return url.protocol === 'http:' || url.protocol === 'https:' ? url : undefined
}

/** Whether a host is asked without the proxy: loopback, `*`, a name of the list, or a name below one. */
export function isDirect(host: string, port: number, env: ProxyEnv): boolean {
  if (isLoopbackHost(host)) return true
  return (env.no_proxy ?? env.NO_PROXY ?? '').split(',').some(entry => {
    const [name = '', of] = entry
      .trim()
      .toLowerCase()
      .split(/:(?=\d+$)/)
    if (name === '*') return true
    if (name === '' || (of !== undefined && Number(of) !== port)) return false
    const bare = name.replace(/^\*?\./, '')
    return host === bare || host.endsWith(`.${bare}`)
  })
}

type Made = (error: Error | null, stream: Duplex) => void

/** An agent whose connections go through the proxy by CONNECT (RFC 9110 §9.3.6); TLS is with the upstream itself. */
class TunnelAgent extends Agent {
  constructor(
    options: AgentOptions,
    private readonly proxy: URL,
    private readonly env: ProxyEnv,
  ) {
    super(options)
  }

  override createConnection(options: RequestOptions, made?: Made): Duplex | null | undefined {
    const host = options.host ?? ''
    const port = Number(options.port ?? 443)
    if (isDirect(host, port, this.env)) return super.createConnection(options, made)
    openTunnel(this.proxy, `${host}:${port}`).then(
      socket => made?.(null, connectTls({ ...(options as object), socket, servername: host })),
      (error: Error) => made?.(error, undefined as unknown as Duplex),
    )
    return undefined
  }
}

function openTunnel(proxy: URL, target: string): Promise<Socket> {
  const isTls = proxy.protocol === 'https:'
  const at = { host: proxy.hostname.replace(/^\[|\]$/g, ''), port: Number(proxy.port) || (isTls ? 443 : 80) }
  return new Promise((resolve, reject) => {
    const socket: Socket = isTls ? connectTls({ ...at, servername: at.host }) : connectPlain(at)
    const fail = (why: string) => {
      socket.destroy()
      reject(new Error(why))
    }
    const timer = setTimeout(() => fail('the company’s proxy did not answer in time'), CONNECT_MS)
    let head = Buffer.alloc(0)
    const onData = (part: Buffer) => {
      head = Buffer.concat([head, part])
      const end = head.indexOf('\r\n\r\n')
      if (end < 0 && head.length < HEAD_MAX) return
      clearTimeout(timer)
      socket.off('data', onData).off('error', onError)
      const status = /^HTTP\/1\.[01] (\d{3})/.exec(head.toString('latin1'))?.[1]
      if (status !== '200') return fail(`the company’s proxy answered ${status ?? 'nothing that is HTTP'}`)
      if (head.length > end + 4) socket.unshift(head.subarray(end + 4))
      resolve(socket)
    }
    const onError = (error: Error) => {
      clearTimeout(timer)
      fail(error.message)
    }
    socket.on('data', onData)
    socket.on('error', onError)
    socket.once(isTls ? 'secureConnect' : 'connect', () => {
      const user = proxy.username && `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`
      const login = user ? `Proxy-Authorization: Basic ${Buffer.from(user).toString('base64')}\r\n` : ''
      socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n${login}\r\n`)
    })
  })
}

/** The agent for https upstreams: through the company's proxy where one is named. */
export function httpsAgent(options: AgentOptions, env: ProxyEnv): Agent {
  const proxy = companyProxy(env)
  return proxy ? new TunnelAgent(options, proxy, env) : new Agent(options)
}

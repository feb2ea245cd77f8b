import { readdirSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { pathToFileURL } from 'node:url'

type Route = (request: Request, context: { params: Promise<Record<string, string>> }) => Promise<Response>
type Module = Partial<Record<string, Route>>
export type Served = { origin: string; close(): Promise<void> }

/**
 * Serves route files of app/ on loopback, found by their place as Next finds them: the real doors without a build.
 * @param under folders below app/, such as `api/v1`
 */
export async function serveRoutes(...under: string[]): Promise<Served> {
  const app = path.resolve('app')
  const routes = await Promise.all(
    under.flatMap(folder =>
      readdirSync(path.join(app, folder), { recursive: true, encoding: 'utf8' })
        .filter(file => path.basename(file) === 'route.ts')
        .map(async file => {
          const place = path
            .join(folder, path.dirname(file))
            .split(path.sep)
            .filter(part => part !== '.')
          const names = place.flatMap(part => /^\[(\w+)\]$/.exec(part)?.[1] ?? [])
          const pattern = new RegExp(
            `^/${place.map(part => (part.startsWith('[') ? '([^/]+)' : part.replaceAll('.', '\\.'))).join('/')}$`,
          )
          const module = (await import(pathToFileURL(path.join(app, folder, file)).href)) as Module
          return { pattern, names, module }
        }),
    ),
  )
  const server = createServer(async (incoming, outgoing) => {
    const url = new URL(incoming.url ?? '/', 'http://127.0.0.1')
    const route = routes.find(({ pattern }) => pattern.test(url.pathname))
    const work = route?.module[incoming.method ?? '']
    if (!route || !work) return void outgoing.writeHead(404).end()
    const values = route.pattern.exec(url.pathname)!.slice(1)
    const params = Object.fromEntries(route.names.map((name, i) => [name, decodeURIComponent(values[i]!)]))
    const hangUp = new AbortController()
    outgoing.on('close', () => hangUp.abort())
    const answer = await work(await asRequest(incoming, url, hangUp.signal), { params: Promise.resolve(params) })
    outgoing.writeHead(answer.status, Object.fromEntries(answer.headers)).end(Buffer.from(await answer.arrayBuffer()))
  }).listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

async function asRequest(incoming: IncomingMessage, url: URL, signal: AbortSignal): Promise<Request> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk as Buffer)
  const headers = new Headers()
  for (const [name, value] of Object.entries(incoming.headers)) if (typeof value === 'string') headers.set(name, value)
  const method = incoming.method ?? 'GET'
  return new Request(url, { method, headers, signal, ...(chunks.length > 0 ? { body: Buffer.concat(chunks) } : {}) })
}

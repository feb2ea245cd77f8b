/** A bare http hook receiver: answers what it is told to and keeps what it saw. */
import http from 'node:http'
import type { AddressInfo } from 'node:net'

export type SeenHook = { url: string; headers: http.IncomingHttpHeaders; bytes: Uint8Array }
export type HookServer = { url: string; port: number; seen: SeenHook[]; stop(): void }

export async function startHookServer(
  answer: (seen: SeenHook) => { status: number; body: string } | Promise<{ status: number; body: string }>,
): Promise<HookServer> {
  const seen: SeenHook[] = []
  const server = http.createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part)
    const one = { url: request.url ?? '', headers: request.headers, bytes: new Uint8Array(Buffer.concat(parts)) }
    seen.push(one)
    const { status, body } = await answer(one)
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(body)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const stop = () => {
    server.closeAllConnections()
    server.close()
  }
  return { url: `http://127.0.0.1:${port}`, port, seen, stop }
}

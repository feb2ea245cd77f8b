/** Codex's own program as a server on its standard input and output (`codex app-server`): JSON-RPC, one message a line. */
import { spawn } from 'node:child_process'
import { realpathSync } from 'node:fs'
import type { ClientHome } from '#agent/clients/client-home.ts'
import { isObject, type Json } from '#agent/clients/json-lines.ts'

const ANSWER_MS = 15_000
/** Far more than a list of hooks. */
const LINE_MAX = 8 * 1024 * 1024

type Server = { call(method: string, params: unknown): Promise<unknown>; tell(method: string): void; end(): void }

function startServer(exe: string, home: ClientHome, cwd: string): Server {
  const child = spawn(exe, ['app-server'], {
    cwd,
    env: home.env as NodeJS.ProcessEnv,
    stdio: ['pipe', 'pipe', 'ignore'],
    windowsHide: true,
  })
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>()
  const fail = (why: string) => {
    for (const { reject } of waiting.values()) reject(new Error(why))
    waiting.clear()
  }
  let unread = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    unread += chunk
    if (unread.length > LINE_MAX) child.kill()
    for (let end = unread.indexOf('\n'); end !== -1; end = unread.indexOf('\n')) {
      const line = unread.slice(0, end)
      unread = unread.slice(end + 1)
      take(line)
    }
  })
  const take = (line: string) => {
    let message: unknown
    try {
      message = JSON.parse(line)
    } catch {
      return
    }
    const one = isObject(message) ? waiting.get(Number(message.id)) : undefined
    if (!isObject(message) || !one || !('result' in message || 'error' in message)) return
    waiting.delete(Number(message.id))
    if (isObject(message.error)) one.reject(new Error(String(message.error.message).slice(0, 200)))
    else one.resolve(message.result)
  }
  child.on('error', error => fail(error.message))
  child.on('close', () => fail('it ended without an answer'))
  child.stdin.on('error', () => {})
  let sent = 0
  const send = (message: Json) => void child.stdin.write(`${JSON.stringify(message)}\n`)
  return {
    call(method, params) {
      const id = ++sent
      send({ id, method, params })
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          waiting.delete(id)
          reject(new Error(`it did not answer ${method}`))
        }, ANSWER_MS)
        const settled =
          <T>(then: (value: T) => void) =>
          (value: T) => {
            clearTimeout(timer)
            then(value)
          }
        waiting.set(id, { resolve: settled(resolve), reject: settled(reject) })
      })
    },
    tell: method => send({ method }),
    end: () => child.kill(),
  }
}

/** A hook as the client lists it. */
type Listed = { key: string; currentHash: string; trustStatus: string; sourcePath: string; command: string }

function hooksIn(listed: unknown): Listed[] {
  const data = isObject(listed) && Array.isArray(listed.data) ? listed.data : []
  return data
    .flatMap((one: unknown) => (isObject(one) && Array.isArray(one.hooks) ? (one.hooks as unknown[]) : []))
    .filter(
      (hook): hook is Listed =>
        isObject(hook) &&
        [hook.key, hook.currentHash, hook.trustStatus, hook.sourcePath, hook.command].every(v => typeof v === 'string'),
    )
}

const real = (path: string) => {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

/**
 * Tells Codex to trust those hooks of a file whose lines are these, as its own screen for hooks does it, and looks whether it does.
 * Others of the same file stay as they are.
 */
export async function trustHooks(
  home: ClientHome,
  { exe, cwd, file, lines }: { exe: string; cwd: string; file: string; lines: readonly string[] },
): Promise<{ ok: true } | { ok: false; why: string }> {
  const server = startServer(exe, home, cwd)
  try {
    await server.call('initialize', { clientInfo: { name: 'holdpoint', title: 'Holdpoint', version: '1' } })
    server.tell('initialized')
    const ours = async () =>
      hooksIn(await server.call('hooks/list', { cwds: [cwd] })).filter(
        ({ sourcePath, command }) => real(sourcePath) === real(file) && lines.includes(command),
      )
    const found = await ours()
    if (found.length === 0) return { ok: false, why: 'it does not list these hooks' }
    const state = Object.fromEntries(found.map(({ key, currentHash }) => [key, { trusted_hash: currentHash }]))
    const edits = [{ keyPath: 'hooks.state', value: state, mergeStrategy: 'upsert' }]
    await server.call('config/batchWrite', { edits, filePath: null, expectedVersion: null })
    const left = (await ours()).filter(({ trustStatus }) => trustStatus !== 'trusted' && trustStatus !== 'managed')
    return left.length === 0 ? { ok: true } : { ok: false, why: 'it still lists them as not trusted' }
  } catch (error) {
    return { ok: false, why: (error as Error).message }
  } finally {
    server.end()
  }
}

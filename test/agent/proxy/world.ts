/** A proxy of an empty home in front of an upstream that a test scripts byte for byte. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Home, openHome } from '#agent/home.ts'
import { ObservedCall } from '#agent/otlp/observed.ts'
import { type LocalProxy, runProxy } from '#agent/proxy/run.ts'
import { removeFolder } from '#test/support/remove-folder.ts'
import { onCleanup } from '../daemon/world.ts'

export type Arrived = { method: string; url: string; raw: string[]; body: Buffer }
type Answer = (request: IncomingMessage, response: ServerResponse, arrived: Arrived) => unknown

export class ProxyWorld {
  readonly folder = mkdtempSync(join(tmpdir(), 'holdpoint-proxy-'))
  readonly arrived: Arrived[] = []
  readonly logged: string[] = []
  upstream = ''
  proxy!: LocalProxy
  answer: Answer = (_, response) => void response.end('ok')

  constructor(readonly home: Home = openHome(join(this.folder, 'home'))) {
    mkdirSync(this.home.root, { recursive: true, mode: 0o700 })
    onCleanup(() => removeFolder(this.folder))
  }

  /** Starts both. `routing` follows the upstreams in config.yaml. */
  async start(routing = '', boundaries = '', askMs = 20_000): Promise<this> {
    const server = createServer((asked, response) => {
      const chunks: Buffer[] = []
      asked.on('data', chunk => chunks.push(chunk as Buffer))
      asked.on('end', () => {
        const { method = '', url = '', rawHeaders: raw } = asked
        const arrived = { method, url, raw, body: Buffer.concat(chunks) }
        this.arrived.push(arrived)
        void this.answer(asked, response, arrived)
      })
      asked.on('error', () => {})
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    onCleanup(
      () =>
        new Promise<void>(resolve => {
          server.close(() => resolve())
          server.closeAllConnections()
        }),
    )
    this.upstream = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    this.configure(routing, boundaries)
    this.proxy = await runProxy({
      home: this.home,
      version: '1.0.0',
      port: 0,
      planEveryMs: 50,
      // the machine that tests run on may be slow
      askMs,
      log: line => void this.logged.push(line),
    })
    onCleanup(() => this.proxy.stop(0))
    return this
  }

  configure(routing = '', boundaries = ''): void {
    const upstreams = `{ anthropic: "${this.upstream}", openai: "${this.upstream}/base" }`
    writeFileSync(this.home.config, `${boundaries}routing:\n  upstreams: ${upstreams}\n${routing}`)
  }

  get base(): string {
    return `http://127.0.0.1:${this.proxy.port}`
  }

  /** One request whose answer is read to its end; `broken` when it had none. */
  ask(
    path: string,
    {
      method = 'POST',
      body,
      headers = {},
    }: { method?: string; body?: string | Buffer; headers?: Record<string, string> } = {},
  ): Promise<{ status: number; raw: string[]; body: Buffer; broken: boolean }> {
    return new Promise((resolve, reject) => {
      const asked = request(
        `${this.base}${path}`,
        {
          method,
          headers: { ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }), ...headers },
          agent: false,
        },
        response => {
          const chunks: Buffer[] = []
          const done = (broken: boolean) =>
            resolve({ status: response.statusCode!, raw: response.rawHeaders, body: Buffer.concat(chunks), broken })
          response.on('data', chunk => chunks.push(chunk as Buffer))
          response.on('end', () => done(false))
          response.on('error', () => done(true))
        },
      )
      asked.on('error', reject)
      asked.end(body)
    })
  }

  /** The calls that were left for the daemon so far. */
  left(): ObservedCall[] {
    const folder = join(this.home.usage, 'proxy')
    let names: string[] = []
    try {
      names = readdirSync(folder).filter(name => name.endsWith('.jsonl'))
    } catch {}
    return names
      .sort()
      .flatMap(name => readFileSync(join(folder, name), 'utf8').trim().split('\n'))
      .map(line => ObservedCall.parse(JSON.parse(line)))
  }
}

/** Server-sent events as each protocol has them, with the usage of one call: input 100, read 20, written 37 (7 for an hour), output 50. */
export const STREAMS = {
  messages: [
    `event: message_start\ndata: ${JSON.stringify({ type: 'message_start', message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-opus-4-6', content: [], stop_reason: null, usage: { input_tokens: 100, cache_read_input_tokens: 20, cache_creation_input_tokens: 37, cache_creation: { ephemeral_5m_input_tokens: 30, ephemeral_1h_input_tokens: 7 }, output_tokens: 1 } } })}\n\n`,
    'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\n',
    'event: ping\ndata: {"type": "ping"}\n\n',
    `event: content_block_delta\ndata: ${JSON.stringify({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'the word "usage" and \n\n data: é \u{1f600}' } })}\n\n`,
    'event: content_block_stop\ndata: {"type":"content_block_stop","index":0}\n\n',
    'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":50}}\n\n',
    'event: message_stop\ndata: {"type":"message_stop"}\n\n',
  ].join(''),
  responses: [
    `event: response.created\ndata: ${JSON.stringify({ type: 'response.created', response: { id: 'resp_1', model: 'gpt-5.5', status: 'in_progress', output: [], usage: null } })}\n\n`,
    `event: response.output_text.delta\ndata: ${JSON.stringify({ type: 'response.output_text.delta', delta: 'hello' })}\n\n`,
    `event: response.completed\ndata: ${JSON.stringify({ type: 'response.completed', response: { id: 'resp_1', model: 'gpt-5.5', status: 'completed', output: [{ type: 'message' }], usage: { input_tokens: 157, input_tokens_details: { cached_tokens: 20, cache_write_tokens: 37 }, output_tokens: 50 } } })}\n\n`,
  ].join(''),
  chat: [
    `data: ${JSON.stringify({ id: 'chatcmpl-1', model: 'gpt-5.5', choices: [{ index: 0, delta: { content: 'hi' } }], usage: null })}\n\n`,
    `data: ${JSON.stringify({ id: 'chatcmpl-1', model: 'gpt-5.5', choices: [], usage: { prompt_tokens: 120, completion_tokens: 50, prompt_tokens_details: { cached_tokens: 20 } } })}\n\n`,
    'data: [DONE]\n\n',
  ].join(''),
} as const

export const PATHS = {
  messages: '/anthropic/v1/messages?beta=true',
  responses: '/openai/v1/responses',
  chat: '/openai/v1/chat/completions',
} as const

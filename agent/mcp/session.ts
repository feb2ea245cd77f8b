/** One client's MCP session (specification 2025-06-18): JSON-RPC messages in, at most one message out for each. */
import { type Daemon, readInput, TOOLS, type Tool } from './tools.ts'

/** The newest first. Those before differ in nothing that these tools use. */
export const VERSIONS = ['2025-06-18', '2025-03-26', '2024-11-05'] as const

type Id = string | number
type Params = Record<string, unknown>
type Message = { id?: Id; method: string; params: Params }

export const RPC = { parse: -32700, invalid: -32600, noMethod: -32601, params: -32602, internal: -32603 } as const

const failure = (id: Id | null, code: number, message: string) => ({
  jsonrpc: '2.0' as const,
  id,
  error: { code, message },
})
const success = (id: Id, result: object) => ({ jsonrpc: '2.0' as const, id, result })
export type Answer = ReturnType<typeof failure> | ReturnType<typeof success>

const INSTRUCTIONS =
  'Holdpoint holds agents at limits that people have set. These tools read how things stand and can say no; none of them can let anything go on. If a boundary holds you, stop and tell the user instead of retrying.'

/** `daemon` asks this machine's daemon and throws an error with words for people. */
export class McpSession {
  private isOpen = false

  constructor(
    private readonly daemon: Daemon,
    private readonly version: string,
  ) {}

  /** Answers one line; undefined for what wants no answer (a notification, an answer). */
  async answer(line: string): Promise<Answer | undefined> {
    let value: unknown
    try {
      value = JSON.parse(line)
    } catch {
      return failure(null, RPC.parse, 'This line is no JSON.')
    }
    const read = readMessage(value)
    if ('wrong' in read) return failure(read.id, RPC.invalid, read.wrong)
    if ('none' in read || read.id === undefined) return undefined
    try {
      return await this.ask(read.id, read)
    } catch (error) {
      return failure(read.id, RPC.internal, (error as Error).message)
    }
  }

  private async ask(id: Id, { method, params }: Message): Promise<Answer> {
    if (method === 'ping') return success(id, {})
    if (method === 'initialize') return this.open(id, params)
    if (!this.isOpen) return failure(id, RPC.invalid, 'The session has not been initialized.')
    if (method === 'tools/list') return success(id, { tools: TOOLS.map(shown) })
    if (method === 'tools/call') return this.call(id, params)
    return failure(id, RPC.noMethod, 'There is no such method.')
  }

  private open(id: Id, { protocolVersion }: Params): Answer {
    if (typeof protocolVersion !== 'string') return failure(id, RPC.params, 'protocolVersion is missing.')
    this.isOpen = true
    const agreed = VERSIONS.find(one => one === protocolVersion) ?? VERSIONS[0]
    return success(id, {
      protocolVersion: agreed,
      capabilities: { tools: {} },
      serverInfo: { name: 'holdpoint', title: 'Holdpoint', version: this.version },
      instructions: INSTRUCTIONS,
    })
  }

  private async call(id: Id, { name, arguments: given }: Params): Promise<Answer> {
    const tool = TOOLS.find(one => one.name === name)
    if (!tool) return failure(id, RPC.params, 'There is no such tool.')
    const input = readInput(tool, given)
    if (!input) return failure(id, RPC.params, `The arguments are not those of ${tool.name}.`)
    try {
      const { text, data } = await tool.run(this.daemon, input)
      return success(id, { content: [{ type: 'text', text }], structuredContent: data, isError: false })
    } catch (error) {
      // a tool that failed is told to the model, which can do something about it
      return success(id, { content: [{ type: 'text', text: (error as Error).message }], isError: true })
    }
  }
}

const shown = ({ run: _, ...told }: Tool) => told

function readMessage(value: unknown): Message | { none: true } | { wrong: string; id: Id | null } {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { wrong: 'A message is one JSON object; batches are not taken.', id: null }
  const { jsonrpc, id, method, params } = value as Params
  const isId = typeof id === 'string' || Number.isSafeInteger(id)
  const own = isId ? (id as Id) : null
  if (jsonrpc !== '2.0') return { wrong: 'jsonrpc must be "2.0".', id: own }
  // an answer to something that was never asked
  if (method === undefined && ('result' in value || 'error' in value)) return { none: true }
  if (typeof method !== 'string') return { wrong: 'method must be a string.', id: own }
  if (id !== undefined && !isId) return { wrong: 'id must be a string or a whole number.', id: null }
  if (params !== undefined && (typeof params !== 'object' || params === null || Array.isArray(params)))
    return { wrong: 'params must be an object.', id: own }
  return { ...(own === null ? {} : { id: own }), method, params: (params ?? {}) as Params }
}

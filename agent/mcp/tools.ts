/** What an agent can ask over MCP: to look, and to say no. Nothing here lets anything go on. */
import type { Glance } from '#agent/glance/glance.ts'
import { CLIENTS } from '#core/client.ts'
import { HANDLE } from '#core/id.ts'

/** The daemon, as far as these tools reach it. */
export type Daemon = (method: 'GET' | 'POST', path: string, body?: unknown) => Promise<unknown>

export type Tool = {
  name: string
  title: string
  description: string
  inputSchema: {
    type: 'object'
    properties: Record<string, { type: 'string'; description: string; enum?: readonly string[]; pattern?: string }>
    required: string[]
    additionalProperties: false
  }
  annotations: { readOnlyHint: boolean; destructiveHint: boolean; idempotentHint: boolean; openWorldHint: boolean }
  /** What is told back: words for the model, the same as data. */
  run(daemon: Daemon, input: Readonly<Record<string, string>>): Promise<{ text: string; data: object }>
}

const looking = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false }

export const TOOLS: readonly Tool[] = [
  {
    name: 'holdpoint_glance',
    title: 'Holdpoint: how things stand',
    description:
      'Read what the boundaries on this machine say now: under `boundaries` the rules on a plan or a budget that hold the next call, each with what to do (stop and tell the user, or stop and ask); budgets, plan windows, live sessions and their cost, and what waits for a person. Look before a long piece of work.',
    inputSchema: {
      type: 'object',
      properties: {
        client: {
          type: 'string',
          description: 'The agent program you run in, to be judged by its plan.',
          enum: CLIENTS,
        },
      },
      required: [],
      additionalProperties: false,
    },
    annotations: looking,
    async run(daemon, { client }) {
      const data = (await daemon('GET', client ? `/api/glance?client=${client}` : '/api/glance')) as Glance
      const { boundaries, waiting } = data
      const stop =
        boundaries.length > 0
          ? boundaries.map(({ text }) => text).join('\n')
          : 'No boundary on a plan or a budget holds the next call. Others are judged at each call.'
      return { text: `${stop}\n${waitingText(waiting.length)}`, data }
    },
  },
  {
    name: 'holdpoint_waiting',
    title: 'Holdpoint: what waits for a person',
    description:
      'List the held actions that wait for an answer. Only a person can let one go on, in a terminal or in the organisation’s web app; no tool can.',
    inputSchema: { type: 'object', properties: {}, required: [], additionalProperties: false },
    annotations: looking,
    async run(daemon) {
      const waiting = (await daemon('GET', '/api/waiting')) as { handle: string; rules: string[]; state: string }[]
      const lines = waiting.map(({ handle, rules, state }) => `${handle}: ${rules.join(', ')} (${state})`)
      return { text: [waitingText(waiting.length), ...lines].join('\n'), data: { waiting } }
    },
  },
  {
    name: 'holdpoint_deny',
    title: 'Holdpoint: say no to a held action',
    description:
      'Say no to one held action, or withdraw its request at the organisation. It stays refused for up to a day. That it came over MCP is recorded. There is no tool that says yes.',
    inputSchema: {
      type: 'object',
      properties: { id: { type: 'string', description: 'As listed: bnd-…', pattern: HANDLE.source } },
      required: ['id'],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    async run(daemon, { id }) {
      const data = (await daemon('POST', `/api/decisions/${id}/deny`, { how: 'mcp' })) as {
        handle: string
        state: string
      }
      return { text: `${data.handle} is ${data.state}.`, data }
    },
  },
]

const waitingText = (n: number) =>
  n === 0 ? 'Nothing waits for a person.' : `${n} held ${n === 1 ? 'action waits' : 'actions wait'} for a person.`

/** A call's arguments as the tool's schema has them; undefined for anything else. */
export function readInput({ inputSchema }: Tool, value: unknown): Record<string, string> | undefined {
  const given = value ?? {}
  if (typeof given !== 'object' || Array.isArray(given)) return undefined
  const { properties, required } = inputSchema
  const entries = Object.entries(given)
  if (required.some(key => !Object.hasOwn(given, key))) return undefined
  const fits = ([key, text]: [string, unknown]) => {
    const property = Object.hasOwn(properties, key) ? properties[key] : undefined
    if (!property || typeof text !== 'string') return false
    if (property.enum && !property.enum.includes(text)) return false
    return property.pattern === undefined || new RegExp(property.pattern).test(text)
  }
  return entries.every(fits) ? (Object.fromEntries(entries) as Record<string, string>) : undefined
}

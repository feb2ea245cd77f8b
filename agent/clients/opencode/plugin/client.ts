/** What the module takes of opencode's own types: as little as it needs, and nothing for granted. */

type Model = { providerID?: unknown; modelID?: unknown }
type Answer<T> = Promise<{ data?: T | undefined } | undefined>

/** opencode's own interface, which its plugins are given. */
export type Client = {
  session?: { get?(options: { path: { id: string } }): Answer<{ parentID?: unknown }> }
  app?: { agents?(): Answer<{ name?: unknown; model?: Model }[]> }
}
export type Context = { client?: Client; directory?: unknown }

/** A part of its configuration: an agent or a command may have a model of its own, `provider/model`. */
export type Config = {
  agent?: Record<string, { model?: unknown } | undefined>
  command?: Record<string, { model?: unknown } | undefined>
}
export type ToolInput = { tool: string; sessionID: string; callID?: string }
export type ToolOutput = { args?: unknown }
export type ChatMessage = { message?: { model?: Model; agent?: unknown } }
export type ChatParams = {
  sessionID?: unknown
  agent?: unknown
  model?: { id?: unknown; providerID?: unknown }
  message?: { agent?: unknown }
}
export type Event = { type?: unknown; properties?: unknown }

export type Json = Record<string, unknown>
export const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null
export const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value.slice(0, 512) : undefined

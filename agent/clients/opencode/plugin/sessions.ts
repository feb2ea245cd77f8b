/** What the module remembers of sessions: who started whom, which model answers. Bounded; nothing of what is said in them. */
import { type ChatParams, type Client, type Config, type Context, isObject, type Json, textOf } from './client.ts'
import { within } from './daemon.ts'

export type Model = { provider?: string | undefined; model?: string | undefined }
/** A session as the daemon knows it: the one that a person began, and the subagent in it. */
export type Who = { root: string; agentId?: string; agentType?: string }

/** What is asked of opencode takes milliseconds; one that hangs must not take the call's time. */
const ASK_MS = 500
const KEPT_MAX = 5000
const DEPTH_MAX = 20

type Known = { parent?: string | null; agent?: string } & Model

export class SessionBook {
  private readonly known = new Map<string, Known>()
  /** Sessions that a person began and that the daemon was told of. */
  readonly begun = new Set<string>()
  /** Those whose making was seen: others were there before. */
  private readonly made = new Set<string>()
  config: Config = {}

  constructor(
    private readonly client: Client | undefined,
    readonly directory: string,
  ) {}

  static of({ client, directory }: Context): SessionBook {
    return new SessionBook(client, textOf(directory) ?? process.cwd())
  }

  private at(id: string): Known {
    const known = this.known.get(id)
    if (known) return known
    if (this.known.size >= KEPT_MAX) this.known.delete(this.known.keys().next().value!)
    const fresh = {}
    this.known.set(id, fresh)
    return fresh
  }

  /** `session.created`: its parent, where another session has started it. */
  noteMade(info: unknown): void {
    const { id, parentID, agent } = isObject(info) ? info : ({} as Json)
    const made = textOf(id)
    if (made === undefined) return
    const known = this.at(made)
    known.parent = textOf(parentID) ?? null
    const type = textOf(agent)
    if (type !== undefined) known.agent = type
    this.made.add(made)
    if (this.made.size > KEPT_MAX) this.made.delete(this.made.values().next().value!)
  }

  noteModel(id: string, provider: unknown, model: unknown): void {
    if (textOf(model) === undefined) return
    Object.assign(this.at(id), { provider: textOf(provider), model: textOf(model) })
  }

  /** The calls that opencode makes beside a session (its title, its summary) go to another model and are none of it. */
  noteParams({ sessionID, agent, model, message }: ChatParams): void {
    const id = textOf(sessionID)
    if (id === undefined || (message?.agent !== undefined && message.agent !== agent)) return
    this.noteModel(id, model?.providerID, model?.id)
  }

  noteAgent(id: string, agent: unknown): void {
    const type = textOf(agent)
    if (type !== undefined) this.at(id).agent ??= type
  }

  modelOf(id: string): Model {
    const { provider, model } = this.at(id)
    return { provider, model }
  }

  /** How a session that a person begins came about. */
  sourceOf(id: string): 'startup' | 'resume' {
    return this.made.has(id) ? 'startup' : 'resume'
  }

  /** The session that a person began, up from any other. One whose parent cannot be found is taken for a session of its own. */
  async whoIs(id: string): Promise<Who> {
    let root = id
    for (let depth = 0; depth < DEPTH_MAX; depth++) {
      const parent = await this.parentOf(root)
      if (parent === undefined || parent === root) break
      root = parent
    }
    const { agent } = this.at(id)
    return root === id ? { root } : { root, agentId: id, ...(agent === undefined ? {} : { agentType: agent }) }
  }

  private async parentOf(id: string): Promise<string | undefined> {
    const known = this.at(id)
    if (known.parent !== undefined) return known.parent ?? undefined
    const found = await this.asked(client => client.session?.get?.({ path: { id } }))
    if (found === undefined) return undefined
    known.parent = textOf(found.parentID) ?? null
    return known.parent ?? undefined
  }

  /**
   * The model that a subagent would answer with: its agent's own, that of the command which starts it, else that of the session
   * it is started from.
   */
  async subagentModel(session: string, args: unknown): Promise<string | undefined> {
    const { subagent_type: type, command } = isObject(args) ? args : ({} as Json)
    const agent = textOf(type)
    if (agent !== undefined) {
      const agents = await this.asked(client => client.app?.agents?.())
      const found = Array.isArray(agents) ? agents.find(({ name }) => name === agent) : undefined
      const own = found ? textOf(found.model?.modelID) : nameIn(this.config.agent?.[agent]?.model)
      if (own !== undefined) return own
    }
    const byCommand = typeof command === 'string' ? this.config.command?.[command]?.model : undefined
    return nameIn(byCommand) ?? this.modelOf(session).model
  }

  private async asked<T>(
    ask: (client: Client) => Promise<{ data?: T | undefined } | undefined> | undefined,
  ): Promise<T | undefined> {
    const asking = this.client && ask(this.client)
    return asking && (await within(ASK_MS, asking))?.data
  }
}

/** `provider/model` as settings have it: the model may have slashes of its own. */
function nameIn(model: unknown): string | undefined {
  const text = textOf(model)
  return text?.includes('/') ? text.slice(text.indexOf('/') + 1) : text
}

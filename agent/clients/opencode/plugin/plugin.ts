/**
 * The module that opencode loads. At each tool call it asks the daemon, and a refusal is an error that it throws; it tells of
 * sessions, prompts and ends; it passes on names and never what is said, given to a tool or got from it. It may hold nobody up:
 * opencode has no time-out, so every wait here has one. One module for both generations of opencode, without a named export,
 * which the first would load a second time.
 */
import { PAUSE_POINT_MS } from '#core/limits.ts'
import {
  type ChatMessage,
  type ChatParams,
  type Config,
  type Context,
  type Event,
  isObject,
  type ToolInput,
  type ToolOutput,
  textOf,
} from './client.ts'
import { DaemonLine, type Fields, type Heard, within } from './daemon.ts'
import { type Installed, TRY_EVENT, UNJUDGED } from './installed.ts'
import { SessionBook, type Who } from './sessions.ts'

/** Written by the install, above this. */
declare const HOLDPOINT: Installed

/** The daemon gives up by itself; it must be heard when it does so at the last moment. */
const BOUND_MS = PAUSE_POINT_MS + 100
/** Whatever else hangs. */
const GUARD_MS = BOUND_MS + 300
/** At the end: what was told a moment ago may still be on its way. */
const SETTLE_MS = 400
/** Sessions whose end is told when opencode ends. */
const ENDED_MAX = 20
const SUBAGENT_TOOL = 'task'

class Module {
  private readonly line: DaemonLine
  private readonly book: SessionBook

  constructor(
    private readonly installed: Installed,
    context: Context,
  ) {
    this.line = new DaemonLine(installed)
    this.book = SessionBook.of(context)
  }

  private fields(event: string, session: string, who: Who, more: Fields = {}): Fields {
    return {
      hook_event_name: event,
      session_id: who.root,
      cwd: this.book.directory,
      agent_id: who.agentId,
      agent_type: who.agentType,
      ...this.book.modelOf(session),
      ...more,
    }
  }

  /** Why a call is refused; undefined lets it run. Never throws, and is there within its bound. */
  async refusalOf(input: ToolInput, args: unknown): Promise<string | undefined> {
    const sentMs = Date.now()
    try {
      const heard = await within(GUARD_MS, this.judged(input, args, sentMs))
      return this.readAnswer(heard ?? { kind: 'none', why: 'it took too long', isAway: false })
    } catch {
      return this.readAnswer({ kind: 'none', why: 'something here failed', isAway: false })
    }
  }

  private async judged(input: ToolInput, args: unknown, sentMs: number): Promise<Heard> {
    const session = input.sessionID
    const who = await this.book.whoIs(session)
    this.begin(session, who)
    const startsSubagent = input.tool === SUBAGENT_TOOL
    const fields = this.fields('PreToolUse', session, who, {
      tool_name: input.tool,
      tool_use_id: input.callID,
      subagent_model: startsSubagent ? await this.book.subagentModel(session, args) : undefined,
    })
    const heard = await this.line.ask(fields, Math.max(100, BOUND_MS - (Date.now() - sentMs)), sentMs)
    if (heard.kind === 'none' && heard.isAway)
      this.line.start(this.fields('SessionStart', session, { root: who.root }, { source: this.sourceOf(who) }))
    return heard
  }

  private readAnswer(heard: Heard): string | undefined {
    if (heard.kind === 'answer' && heard.exit === 0) return undefined
    if (heard.kind === 'answer' && heard.exit === 2 && heard.stderr.trim() !== '') return heard.stderr.trim()
    if (this.installed.whenBroken === 'pass') return undefined
    const why = heard.kind === 'none' ? heard.why : heard.stderr.trim() || 'its daemon failed'
    return `${UNJUDGED}: ${why}. It is set to refuse what it cannot judge, so retrying does not help. Stop here and tell the user; \`holdpoint status\` says more.`
  }

  private sourceOf(who: Who): string {
    return this.book.sourceOf(who.root)
  }

  /** The first that is heard of a session in this process. */
  private begin(session: string, who: Who): void {
    if (this.book.begun.has(who.root)) return
    this.book.begun.add(who.root)
    this.line.tellByProgram(this.fields('SessionStart', session, { root: who.root }, { source: this.sourceOf(who) }))
  }

  private tell(event: string, session: unknown, more: Fields = {}, inSubagent = event): void {
    const id = textOf(session)
    if (id === undefined) return
    const who = this.book.whoIs(id)
    this.line.tell(who.then(known => this.fields(known.agentId === undefined ? event : inSubagent, id, known, more)))
  }

  /** A person's prompt, or what is put to a subagent. */
  private noteMessage(session: string, { message }: ChatMessage): void {
    this.book.noteModel(session, message?.model?.providerID, message?.model?.modelID)
    this.book.noteAgent(session, message?.agent)
    void this.book
      .whoIs(session)
      .then(who => {
        this.begin(session, who)
        if (who.agentId === undefined) this.line.tellByProgram(this.fields('UserPromptSubmit', session, who))
      })
      .catch(() => {})
  }

  private noteEvent({ type, properties }: Event): void {
    const about = isObject(properties) ? properties : {}
    const info = isObject(about.info) ? about.info : {}
    if (type === 'session.created') {
      this.book.noteMade(info)
      if (textOf(info.parentID)) this.tell('SubagentStart', info.id)
    } else if (type === 'session.idle') this.tell('Stop', about.sessionID, {}, 'SubagentStop')
    else if (type === 'session.error') this.tell('StopFailure', about.sessionID, {}, 'SubagentStop')
    else if (type === 'session.deleted' && this.book.begun.delete(String(info.id)))
      this.tell('SessionEnd', info.id, { reason: 'deleted' })
    else if (type === 'permission.asked') {
      const call = isObject(about.tool) ? textOf(about.tool.callID) : undefined
      this.tell('PermissionRequest', about.sessionID, {
        tool_name: textOf(about.permission) ?? 'unknown',
        tool_use_id: call,
      })
    } else if (type === TRY_EVENT) this.tryOut(about)
  }

  /** Sends an event as it was given, and says what was heard. */
  private tryOut({ fields, heard }: Record<string, unknown>): void {
    if (isObject(fields) && typeof heard === 'function')
      void this.line.ask(fields as Fields, PAUSE_POINT_MS).then(answer => heard(answer))
  }

  private async end(): Promise<void> {
    for (const root of [...this.book.begun].slice(-ENDED_MAX)) this.tell('SessionEnd', root, { reason: 'exit' })
    await this.line.settle(SETTLE_MS)
  }

  /** The hooks of the first generation. What is not a tool call never throws and is never waited for. */
  hooks() {
    return {
      'tool.execute.before': async (input: ToolInput, output: ToolOutput) => {
        const refusal = await this.refusalOf(input, output?.args)
        if (refusal !== undefined) throw new Error(refusal)
      },
      'tool.execute.after': async ({ tool, sessionID, callID }: ToolInput) =>
        this.tell('PostToolUse', sessionID, { tool_name: tool, tool_use_id: callID }),
      'chat.message': async ({ sessionID }: { sessionID: string }, output: ChatMessage) =>
        this.noteMessage(sessionID, output ?? {}),
      'chat.params': async (input: ChatParams) => this.book.noteParams(input),
      config: async (config: Config) => {
        this.book.config = config
      },
      event: async ({ event }: { event: Event }) => this.noteEvent(event ?? {}),
      dispose: async () => this.end(),
    }
  }
}

let isServed = false

/** opencode 1. */
async function server(context: Context) {
  isServed = true
  return new Module(HOLDPOINT, context ?? {}).hooks()
}

type Later = Context & {
  tool?: { hook?(name: string, heard: (event: ToolInput & { input?: unknown }) => Promise<void>): unknown }
}

/**
 * opencode 2, as far as its form is known; it could not be tried. Version 1.18 calls this as well, without tools, after it has
 * called the other.
 */
async function setup(context: Later): Promise<void> {
  if (isServed || typeof context?.tool?.hook !== 'function') return
  const module = new Module(HOLDPOINT, context)
  await context.tool.hook('execute.before', async event => {
    const refusal = await module.refusalOf(event, event.input)
    if (refusal !== undefined) throw new Error(refusal)
  })
}

export default { id: 'holdpoint', server, setup }

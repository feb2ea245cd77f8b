import {
  CANARY_HEARD,
  CANARY_SESSION,
  type ClientAdapter,
  type HookEvent,
  type RenderedAnswer,
} from '#agent/clients/adapter.ts'
import { CREDENTIALS, type Credential } from '#agent/clients/usage-source.ts'
import type { Client } from '#core/client.ts'
import { parseRunTags } from '#core/usage/tag-text.ts'
import { NO_TAGS, type Tags, tagsKey } from '#core/usage/tags.ts'
import type { Judgement } from './decision.ts'
import { hookBodyMax, type Incoming, type Reply, type Route } from './door.ts'
import { judgeCall, noteEvent } from './judge.ts'
import { clientPidOf, noteParent } from './parent.ts'
import { type Runtime, record } from './runtime.ts'
import type { Session } from './session.ts'

/** Failures of one kind are chained once in this time, with how many there were. */
const FAILURE_EVERY_MS = 60_000

type Failure = {
  what: 'unreadable_input' | 'over_time' | 'error'
  client: string
  field?: string
  session?: string
  toolUse?: string
}

/** Counts calls that went through because something on our side failed; each kind is chained at once, then once a minute. */
export class Failures {
  private readonly seen = new Map<string, { failure: Failure; at: number; more: number }>()

  constructor(private readonly runtime: Runtime) {}

  note(failure: Failure): void {
    this.runtime.counters.failures++
    const key = `${failure.what} ${failure.client} ${failure.field ?? ''}`
    const known = this.seen.get(key)
    if (known && this.runtime.now() - known.at < FAILURE_EVERY_MS) {
      known.more++
      return
    }
    const count = 1 + (known?.more ?? 0)
    this.seen.set(key, { failure, at: this.runtime.now(), more: 0 })
    record(this.runtime, { kind: 'failure', count, ...failure })
  }

  /** Chains what was only counted; each minute and at the end. */
  flush(): void {
    for (const known of this.seen.values()) {
      if (known.more > 0) record(this.runtime, { kind: 'failure', count: known.more, ...known.failure })
      known.more = 0
    }
  }
}

/** `POST /hook/<client>`: the client's event in, its answer out. */
export function hookRoute(runtime: Runtime, failures: Failures, fileSoon: () => void): Route {
  return {
    method: 'POST',
    path: /^\/hook\/([a-z-]{1,40})$/,
    token: 'hook',
    bodyMax: hookBodyMax,
    handle: (incoming, match) => {
      const adapter = runtime.adapters.get(match[1]!)
      if (!adapter) return { status: 404, body: { error: { code: 'NOT_FOUND', message: 'No such client.' } } }
      return answerHook(runtime, adapter, failures, incoming, fileSoon)
    },
  }
}

function answerHook(
  runtime: Runtime,
  adapter: ClientAdapter,
  failures: Failures,
  incoming: Incoming,
  fileSoon: () => void,
): Reply | Promise<Reply> {
  const { client } = adapter
  const broken = (failure: Omit<Failure, 'client'>, why: string): Reply => {
    try {
      failures.note({ client, ...failure })
    } catch (error) {
      runtime.log(`a failure could not be recorded: ${String(error)}`)
    }
    return inForm(incoming, adapter.renderBroken(why))
  }
  let event: HookEvent | undefined
  const failed = (error: unknown): Reply => {
    runtime.log(`a hook failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`)
    return broken({ what: 'error', ...(event ? { session: event.sessionId } : {}) }, 'the daemon failed to decide')
  }
  try {
    const read = adapter.parse(incoming.body, runtime.now(), adapter.originFromHeaders(incoming.headers))
    if (read.kind === 'parse_failure')
      return broken(
        { what: 'unreadable_input', field: read.field ?? read.reason },
        `the hook's input could not be read (${read.reason})`,
      )
    event = read
    const reply = ({ decision, file, late }: Judgement): Reply => {
      if (file) fileSoon()
      if (late) {
        const toolUse = read.kind === 'tool_call' && read.toolUseId ? { toolUse: read.toolUseId } : {}
        return broken({ what: 'over_time', session: read.sessionId, ...toolUse }, 'the decision took too long')
      }
      return inForm(incoming, adapter.render(decision, read))
    }
    const attended = attendedOf(read, incoming.headers)
    const judged = judgeEvent(
      runtime,
      client as Client,
      read,
      {
        attended,
        runTags: runTagsOf(incoming.headers),
        credential: credentialOf(incoming.headers),
        environment: runtime.environmentHeld(incoming.headers['x-holdpoint-environment']),
        clientPid: clientPidOf(incoming.headers),
      },
      incoming.arrivedMs,
    )
    return judged instanceof Promise ? judged.then(reply).catch(failed) : reply(judged)
  } catch (error) {
    return failed(error)
  }
}

/** The answer as an http hook reads it, or as our command hook's process gives it to the client. */
function inForm({ headers }: Incoming, { http, command }: RenderedAnswer): Reply {
  return headers['x-holdpoint-form'] === 'command'
    ? { status: http.status, body: command }
    : { status: http.status, text: http.body }
}

/** What came beside an event: who is at the keyboard, and (at a session's start) to whom its run belongs. */
export type Beside = {
  attended: boolean | undefined
  runTags?: Tags | undefined
  /** How the client's process signs in; only a command hook sees it. */
  credential?: Credential | undefined
  /** What signed rules ask of the client's environment, as far as it holds there. */
  environment?: string[] | undefined
  clientPid?: number | undefined
}

/** Takes in one event; only a tool call can be held. */
export function judgeEvent(
  runtime: Runtime,
  client: Client,
  event: HookEvent,
  { attended, runTags, credential, environment, clientPid }: Beside,
  arrivedMs = performance.now(),
): Judgement | Promise<Judgement> {
  // it has come through the door, which is all that it was sent for; a call under that name is judged like any other
  if (event.sessionId === CANARY_SESSION && event.kind !== 'tool_call')
    return { decision: { outcome: 'pass', text: '', systemMessage: CANARY_HEARD }, file: false }
  // only the start of a session is heard from a process that knows; a call's own headers may still say that nobody is there
  const session = runtime.sessions.note(client, event, event.kind === 'session_start' ? attended : undefined)
  if (environment !== undefined && environment.join('\n') !== session.environment?.join('\n'))
    session.environment = environment
  if (event.kind === 'session_start') {
    noteRunTags(session, runTags)
    noteParent(runtime, session, clientPid)
    noteCover(runtime, session, credential)
  }
  if (event.kind === 'tool_call') {
    const canAsk = runtime.adapters.get(client)?.asks === true && (attended ?? session.attended) === true
    return judgeCall({ runtime, client, event, session, canAsk, arrivedMs })
  }
  noteEvent(runtime, event, session)
  return { decision: { outcome: 'pass', text: '' }, file: false }
}

/** A start without tags takes none away: a hook that runs again at a resume or after compaction may not have them. */
function noteRunTags(session: Session, runTags: Tags | undefined): void {
  if (runTags !== undefined && tagsKey(runTags) !== tagsKey(session.runTags ?? NO_TAGS)) session.runTags = runTags
}

/** Whether a plan covers a session is looked at when it starts, by whoever knows its client's files. */
function noteCover(runtime: Runtime, session: Session, credential: Credential | undefined): void {
  const source = runtime.sources.find(({ client }) => client === session.client)
  if (credential === undefined || !source?.coverOf) return
  const { attended = false, cwd } = session
  session.covered = source.coverOf(runtime.clientHome, { credential, attended, cwd })
}

/** What the command hook's process saw of its client's signing in; undefined where it said nothing that is known. */
export const credentialOf = (headers: Readonly<Record<string, string | string[] | undefined>>) =>
  CREDENTIALS.find(one => one === headers['x-holdpoint-credential'])

/** The tags of a run, as the command hook's process passed them on; undefined where it passed none. */
export function runTagsOf(headers: Readonly<Record<string, string | string[] | undefined>>): Tags | undefined {
  const said = headers['x-holdpoint-tags']
  if (typeof said !== 'string' || said.length > 8192) return undefined
  return parseRunTags(said).tags
}

/** What the adapter could tell, else what the command hook's process said in its header. */
export function attendedOf(
  event: HookEvent,
  headers: Readonly<Record<string, string | string[] | undefined>>,
): boolean | undefined {
  if (event.attended !== undefined) return event.attended
  const said = headers['x-holdpoint-attended']
  return said === '1' ? true : said === '0' ? false : undefined
}

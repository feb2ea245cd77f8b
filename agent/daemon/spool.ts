import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { ToolCall } from '#agent/clients/adapter.ts'
import { readJson, remove } from '#agent/home.ts'
import type { Client } from '#core/client.ts'
import { judgeAsker } from './claim.ts'
import { attendedOf, credentialOf, judgeEvent, runTagsOf } from './hook-route.ts'
import { alarm, type Runtime, record } from './runtime.ts'

const FILE_MAX = 64 * 1024
/** Taken in at one go; the rest follows. */
const BATCH = 200

type Spooled = Record<string, unknown>

/** Takes in what hooks and the command left, oldest first; each file is chained and then deleted. Returns how many there were. */
export function takeSpool(runtime: Runtime): number {
  let names: string[]
  try {
    names = readdirSync(runtime.home.spool).filter(name => /^[a-z]+-[A-Za-z0-9_-]{1,80}\.json$/.test(name))
  } catch {
    return 0
  }
  const files = names
    .map(name => join(runtime.home.spool, name))
    .map(path => ({ path, stat: statSync(path, { throwIfNoEntry: false }) }))
    .filter(({ stat }) => stat?.isFile())
    .sort((a, b) => a.stat!.mtimeMs - b.stat!.mtimeMs)
  for (const { path, stat } of files.slice(0, BATCH)) {
    try {
      const spooled = stat!.size <= FILE_MAX ? readJson<Spooled>(path) : undefined
      if (spooled) takeOne(runtime, spooled)
    } catch (error) {
      runtime.log(`a spooled file could not be taken in: ${(error as Error).message}`)
    }
    remove(path)
  }
  return files.length
}

function takeOne(runtime: Runtime, spooled: Spooled): void {
  if (spooled.kind === 'hook_event') takeEvent(runtime, spooled)
  else if (spooled.kind === 'alarm') {
    if (spooled.what === 'daemon_impostor') alarm(runtime, 'daemon_impostor')
    else runtime.log(`a hook could not do its work: ${String(spooled.why).slice(0, 200)}`)
  } else if (spooled.kind === 'local_answer') takeLocalAnswer(runtime, spooled)
}

/** An event that came while the daemon was down: it is learned from, never judged (the call has long gone on). */
function takeEvent(runtime: Runtime, { client, body, headers, why }: Spooled): void {
  const adapter = runtime.adapters.get(String(client))
  if (!adapter || typeof body !== 'object' || body === null) return
  const given = (typeof headers === 'object' && headers !== null ? headers : {}) as Record<string, string>
  const event = adapter.parse(Buffer.from(JSON.stringify(body)), runtime.now(), adapter.originFromHeaders(given))
  if (event.kind === 'parse_failure') return
  if (event.kind === 'tool_call') {
    noteUnheard(runtime, adapter.client, event, why)
    return
  }
  judgeEvent(runtime, adapter.client as Client, event, {
    attended: attendedOf(event, given),
    runTags: runTagsOf(given),
    credential: credentialOf(given),
    environment: runtime.environmentHeld(given['x-holdpoint-environment']),
  })
}

/**
 * A call whose hook did not hear this daemon in time, and which went on. What ran while no daemon was there is counted from the
 * transcripts; what this daemon has judged after all it has chained itself.
 */
function noteUnheard(runtime: Runtime, client: string, { sessionId, toolUseId }: ToolCall, why: unknown): void {
  if (why !== 'slow' && why !== 'odd') return
  if (toolUseId !== undefined && runtime.judged.has(sessionId, toolUseId)) return
  const what = why === 'slow' ? 'over_time' : 'error'
  const toolUse = toolUseId === undefined ? {} : { toolUse: toolUseId }
  runtime.counters.failures++
  record(runtime, { kind: 'failure', what, client, session: sessionId, ...toolUse, count: 1 })
}

/**
 * An answer typed into `holdpoint approve`. The process that gave it is still there and is looked at again here: it must be
 * that command, called for this very question. A deterrent, and called one: see judgeClaim.
 */
function takeLocalAnswer(runtime: Runtime, spooled: Spooled): void {
  const { handle, scope, tty } = spooled
  if (typeof handle !== 'string' || (scope !== 'step' && scope !== 'session')) return
  const decision = runtime.state.decisions.get(handle)?.entry
  const question = runtime.state.questions.get(decision?.question ?? handle)
  const target = question?.decision.handle ?? handle
  if (!question) {
    // what the organisation's approvers must answer is never answered here; what nobody asked is nobody's answer
    if (decision || runtime.state.requests.has(handle)) refuseAnswer(runtime, target, 'not_answered_here')
    else alarm(runtime, 'local_answer_without_journal')
    return
  }
  if (question.state !== 'open') return
  const isApproval = ([command, ...rest]: string[]) =>
    command === 'approve' && rest.some(word => (runtime.state.decisions.get(word)?.entry.question ?? word) === target)
  const judged = judgeAsker(runtime, spooled, isApproval)
  if (!judged.ok) {
    refuseAnswer(runtime, target, judged.code, judged.chain)
    return
  }
  record(
    runtime,
    {
      kind: 'local_answer',
      handle: target,
      scope,
      how: 'cli',
      ...(typeof tty === 'string' ? { tty: tty.slice(0, 40) } : {}),
      chain: judged.chain,
    },
    { durable: true },
  )
}

function refuseAnswer(runtime: Runtime, handle: string, why: string, chain?: string[]): void {
  record(runtime, { kind: 'guard_refused', handle, why, ...(chain ? { chain } : {}) })
}

import { crypto } from '#agent/crypto.ts'
import { reasonOf } from '#agent/trust/document-refused.ts'
import { acceptAnswer, bindAnswer } from '#core/approval/accept.ts'
import { type Answer, openAnswer } from '#core/approval/answer.ts'
import type { ApprovalState } from '#core/approval/state.ts'
import { alarm, clockOf, type Runtime, record } from './runtime.ts'

/** States that only tighten: they need no signature. An approval comes as a signed answer or not at all. */
const TIGHTENING: readonly ApprovalState[] = ['revoked', 'denied', 'expired', 'withdrawn', 'lapsed']

/** As many as the control plane hands out at once; a page that holds as many has more behind it. */
const PAGE = 200
const PAGES_MAX = 100

/**
 * Fetches what is newer than what this machine has, verifies it and chains it. With `again` everything is looked at once more:
 * a control plane that was restored from a backup gives places anew that it had given before, and what is known is passed by.
 * Returns true when an answer needs a newer root document: its place is then kept, and it is asked for again.
 */
export async function fetchAnswers(runtime: Runtime, { again = false } = {}): Promise<{ needsRoot: boolean }> {
  const { membership, state } = runtime
  if (!membership) return { needsRoot: false }
  let after = again ? 0 : state.answerSeq
  for (let pages = 0; pages < PAGES_MAX; pages++) {
    const page = await membership.controlPlane.answers(after)
    if (page.seq < after && !again) {
      runtime.log(`the control plane's answers ended at ${page.seq}, this machine had seen ${after}`)
      state.answerSeq = page.seq
      return fetchAnswers(runtime, { again: true })
    }
    const items = [
      ...page.answers.map(item => ({ seq: item.seq, jws: item.jws })),
      ...page.states.map(item => ({ seq: item.seq, state: item })),
    ].sort((a, b) => a.seq - b.seq)
    for (const item of items) {
      if (item.seq <= after) continue
      if ('state' in item) takeState(runtime, item.state)
      else if (takeAnswer(runtime, item.jws, item.seq) === 'needs root') return { needsRoot: true }
    }
    state.answerSeq = Math.max(state.answerSeq, page.seq)
    if (page.seq <= after || items.length < PAGE) break
    after = page.seq
  }
  return { needsRoot: false }
}

function takeState(
  runtime: Runtime,
  { seq, handle, state, at }: { seq: number; handle: string; state: ApprovalState; at: string },
): void {
  const asked = runtime.state.requests.get(handle)
  if (asked && asked.state !== state && TIGHTENING.includes(state))
    record(runtime, { kind: 'state', handle, state, at2: at, by: 'control plane', place: seq })
  else runtime.state.answerSeq = Math.max(runtime.state.answerSeq, seq)
}

function takeAnswer(runtime: Runtime, jws: string, seq: number): 'done' | 'needs root' {
  const { team, trust } = runtime.membership!
  const root = trust.root
  if (!root) return 'needs root'
  if (refusedHere.has(jws)) return 'done'
  let answer: Answer
  try {
    answer = openAnswer(jws, root.root, crypto)
  } catch (error) {
    const why = reasonOf(error)
    if (why === 'unknown_key' && !rootTried.has(jws)) {
      rootTried.add(jws)
      return 'needs root'
    }
    refusedHere.add(jws)
    refused(runtime, seq, why)
    return 'done'
  }
  const asked = runtime.state.requests.get(answer.handle)
  const context = {
    stored: asked && {
      request: asked.request,
      digest: asked.digest,
      over: asked.state === 'expired' || asked.state === 'withdrawn',
    },
    org: team.org.id,
    machine: team.machine,
    rootSeq: root.root.seq,
  }
  const { organisation, set } = runtime.rules.inForce()
  const judged =
    answer.decision === 'deny'
      ? bindAnswer(answer, context)
      : acceptAnswer(answer, {
          ...context,
          rules: organisation,
          selfAnswer: set?.set.selfAnswer ?? 'never',
          nowMs: clockOf(runtime),
        })
  if (!judged.ok && judged.why === 'root_ahead' && !rootTried.has(jws)) {
    rootTried.add(jws)
    return 'needs root'
  }
  if (!judged.ok && (judged.why === 'no_such_request' || judged.why === 'other_request')) {
    refusedHere.add(jws)
    refused(runtime, seq, judged.why, answer.handle)
    return 'done'
  }
  // handed out again: what it did, it did
  if (runtime.state.answered.has(answer.answerId)) {
    runtime.state.answerSeq = Math.max(runtime.state.answerSeq, seq)
    return 'done'
  }
  // one that does not hold yet is kept: the moment is judged again whenever it would let something go on
  const ok = judged.ok || judged.why === 'not_yet'
  const why = judged.ok ? '' : judged.why
  record(runtime, {
    kind: 'answer',
    handle: answer.handle,
    answerId: answer.answerId,
    place: seq,
    decision: answer.decision,
    jws,
    ok,
    ...(ok ? {} : { why }),
  })
  if (!ok) alarm(runtime, 'answer_refused', why)
  return 'done'
}

/** Answers for which a newer root was fetched once already; a second failure is the answer's own. */
const rootTried = new Set<string>()
/** Answers that were refused since the start: told once. */
const refusedHere = new Set<string>()

function refused(runtime: Runtime, seq: number, why: string, handle?: string): void {
  record(runtime, { kind: 'answer_refused', place: seq, why, ...(handle === undefined ? {} : { handle }) })
  alarm(runtime, 'answer_refused', why)
}

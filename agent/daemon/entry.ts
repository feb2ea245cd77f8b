import type { PlanWindow } from '#agent/figures/plan-window.ts'
import type { Ceiling } from '#core/approval/answer.ts'
import type { ApprovalRequest, CrossedFigure } from '#core/approval/request.ts'
import type { ApprovalState } from '#core/approval/state.ts'
import type { Action } from '#core/boundary/shape.ts'
import type { Level } from '#core/client.ts'
import type { AlarmKind, HookOff } from '#core/protocol.ts'
import type { HeldSubject } from './subject.ts'

/** A rule as a decision met it: `key` is its name, with `org:` before an organisation's. */
export type JudgedRule = { key: string; require: string; digest?: string; note?: string }

/** A figure as a decision read it. Stays on the machine, so a workflow or agent stands by its name here. */
export type ReadFigure = {
  name: string
  qualifier?: string
  value: string
  unit: string
  op: string
  threshold: string
  observedAt?: string
}

/** One pause point that crossed something; a call that crossed nothing leaves counters only. */
export type DecisionEntry = {
  kind: 'decision'
  handle: string
  client: string
  session: string
  sessionRef: string
  agent?: string
  project: string
  /** The user of this machine; never leaves it. */
  user: string
  toolUse?: string
  action: Action
  /** A route or a destination, where an answer is about that and not about the session. */
  subject?: HeldSubject
  stage: 'shadow' | 'enforce'
  outcome: 'allow' | 'ask' | 'approver' | 'deny'
  did: 'passed' | 'asked' | 'refused' | 'released'
  rules: JudgedRule[]
  figures: ReadFigure[]
  /** The same figures as they may leave the machine. */
  wire: CrossedFigure[]
  /** The open question or request that this call met, when it is another decision's. */
  question?: string
  /** Who can let it go on. */
  answeredBy: 'organisation' | 'machine' | 'nobody'
  /** Until when, and at which figures, a local yes holds. */
  until?: Ceiling[]
  /** Grants that let it go on: answer ids, or handles of local answers. */
  grants?: string[]
  /** `late`: it came after more than two seconds, and the call had gone on by itself. */
  why?: 'late'
}

/**
 * Everything the journal can hold; state is replayed from these and from nothing else. No member may be called `seq`, `prev`
 * or `at`, which are the line's own. `place` is an answer's place in the machine's stream of answers.
 */
export type EntryBody =
  | { kind: 'begun'; connector: string }
  | { kind: 'started'; connector: string; downFrom?: string }
  | { kind: 'stopped' }
  | { kind: 'journal_reset'; after: number; kept?: string; why: 'absent' | 'broken' }
  | { kind: 'journal_rolled_back'; had: number; head: string }
  | { kind: 'tail_cut'; bytes: number }
  | { kind: 'lines_lost'; lines: number }
  | DecisionEntry
  | {
      kind: 'failure'
      what: 'unreadable_input' | 'over_time' | 'error'
      client: string
      field?: string
      session?: string
      toolUse?: string
      count: number
    }
  | { kind: 'not_judged'; client: string; session: string; sessionRef: string; calls: number; from: string; to: string }
  | {
      kind: 'request'
      request: ApprovalRequest
      digest: string
      session: string
      keys: string[]
      role: string
      replaces?: string
    }
  | {
      kind: 'filed'
      handle: string
      state: ApprovalState
      role: string
      approvals: number
      eligible: number
      url: string
    }
  | {
      kind: 'state'
      handle: string
      state: ApprovalState
      at2: string
      by: 'control plane' | 'machine'
      why?: string
      /** Of a withdrawal on this machine: by which way it was said. */
      how?: DenialWay
      place?: number
    }
  | {
      kind: 'answer'
      handle: string
      answerId: string
      place: number
      decision: 'approve' | 'deny'
      jws: string
      ok: boolean
      why?: string
    }
  | { kind: 'answer_refused'; place: number; why: string; handle?: string }
  | {
      kind: 'local_answer'
      handle: string
      scope: 'step' | 'session'
      how: 'cli' | 'prompt'
      toolUse?: string
      tty?: string
      chain?: string[]
    }
  /** A decision was chained, but its answer came too late: the call went on by itself. */
  | { kind: 'late'; handle: string }
  | { kind: 'declined'; handle: string; toolUse: string }
  | { kind: 'denied_here'; handle: string; how?: DenialWay }
  /** Somebody asked for what loosens and was no person to be seen: an answer to `handle`, or what `act` names. */
  | { kind: 'guard_refused'; handle?: string; act?: 'daemon stop'; why: string; chain?: string[] }
  | { kind: 'spend'; handle: string; answerId: string; toolUse: string; session: string }
  | { kind: 'second_use'; handle: string; answerId: string; toolUse: string }
  | { kind: 'lapsed'; handle: string; answerId: string }
  | { kind: 'joined'; machine: string }
  | { kind: 'left'; machine: string }
  | { kind: 'session_end'; client: string; session: string; reason: string }
  /** `rootDigest`: of the root document that it was verified under. */
  | { kind: 'rules'; version: number; digest: string; rootSeq: number; rootDigest?: string }
  | { kind: 'root'; rootSeq: number; digest: string }
  | { kind: 'refused'; code: string }
  | { kind: 'local_rules'; ok: boolean; rules: number; problems: number }
  /** What is left of a plan's window: a new one, or one of which a whole per cent more is gone. Moments are ISO 8601. */
  | {
      kind: 'plan_window'
      plan: PlanWindow['plan']
      window: PlanWindow['window']
      left: string
      resetsAt: string
      observedAt: string
      source: PlanWindow['source']
    }
  /** A client's hooks hold more or less than they did, or for another reason. */
  | { kind: 'hooks_changed'; client: string; from: Level; to: Level; off: HookOff[] }
  | { kind: 'alarm'; what: AlarmKind; note?: string }

/** By which way a no was said on this machine: the command, an agent's tool, the local API. A yes has none of the latter two. */
export const DENIAL_WAYS = ['cli', 'mcp', 'api'] as const
/** `desktop`: the button of a notice, which no request to the API can claim. */
export type DenialWay = (typeof DENIAL_WAYS)[number] | 'desktop'

/** A line of the journal: its place, the hash of the line before ('' for the very first), when, and what. */
export type Entry = { seq: number; prev: string; at: string } & EntryBody

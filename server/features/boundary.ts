import type { CrossedFigure } from '#core/approval/request.ts'
import { holdersOf, type Person, whoAnswers } from '#core/boundary/answerers.ts'
import { bindable, type CaseResult, caseToJson, runCases, whyUnproven } from '#core/boundary/cases.ts'
import { readingFromWire } from '#core/boundary/crossed.ts'
import { describeRule } from '#core/boundary/describe.ts'
import { ruleOutline } from '#core/boundary/edit.ts'
import type { Problem, ProblemCode } from '#core/boundary/problem.ts'
import { proposeCases } from '#core/boundary/propose-cases.ts'
import { type Observation, type Replay, replay } from '#core/boundary/replay.ts'
import { type BoundaryCase, type Rule, requirementText } from '#core/boundary/shape.ts'
import { AppError } from '#core/error.ts'
import { BOUNDARIES_TEXT_MAX } from '#core/limits.ts'
import { RATE_CARD } from '#core/rate-card/built-in.ts'
import { type LadderRole, ROLES } from '#core/role.ts'
import { type EntryPlace, parseRuleDocument, type RuleDocument } from '#core/rules/document.ts'
import type { Tx } from '../db.ts'
import type { FeatureContext } from './context.ts'
import { type MachineBehind, MIN_READER, machinesBelow } from './reader.ts'

/** A mistake, or a warning, at its place in the text. Beside the grammar's codes there are those about people and cases. */
export type DraftProblem = Omit<Problem, 'code'> & {
  code: ProblemCode | 'nobody_can_answer' | 'only_the_requester' | 'not_proven'
}

/** One rule of a draft as the editor lists it. `line` and `endLine` count from 1. */
export type DraftRule = {
  name: string
  line: number
  endLine: number
  keyLines: Readonly<Record<string, number>>
  describe: string
  action: Rule['action']
  require: string
  stage: Rule['stage']
  note: string | undefined
  /** Whether it may be enforced: at least one must-stop and one must-pass case that hold, none that fails. */
  bindable: boolean
  lacking: readonly ('must_stop' | 'must_pass')[]
  /** The cases that count for it, each with what the rules really say. */
  cases: DraftCase[]
  /** Cases at its thresholds that the document does not hold yet, accepted as they are with one key. */
  proposed: DraftCase[]
}
export type DraftCase = {
  name: string | undefined
  text: string
  expect: string
  got: string
  ok: boolean
  json: ReturnType<typeof caseToJson>
}

export type Draft = {
  errors: DraftProblem[]
  warnings: DraftProblem[]
  rules: DraftRule[]
  /** Every enforced rule may bind, and nothing is wrong: it can be published. */
  bindable: boolean
  /** How many people can answer for each role that a rule names. */
  ruleRoleHolders: { role: LadderRole; holders: number }[]
  /** Machines that could not read the set as it would be published. */
  behind: MachineBehind[]
  /** Entries of every section with their lines. */
  places: EntryPlace[]
  document: RuleDocument
}

/** Prices that the built-in card has of its own accord. */
const ON_CARD = new Set(
  RATE_CARD.rows.flatMap(({ provider, id, aliases = [] }) => [id, ...aliases].map(name => `${provider}/${name}`)),
)

/** A document read against what the organisation has: its tenants, members and defaults. Says nothing about who may publish it. */
async function readDocument(tx: Tx, orgId: string, text: string, now: Date): Promise<RuleDocument> {
  const tenants = await tx.tenant.findMany({ where: { orgId }, select: { key: true } })
  const members = await tx.member.findMany({ where: { orgId, removedAt: null }, select: { id: true } })
  const defaults = await budgetDefaults(tx, orgId)
  return parseRuleDocument(text, {
    defaults,
    roles: ROLES,
    tenants: tenants.map(({ key }) => key),
    members: members.map(({ id }) => id),
    now: now.getTime(),
    isOnCard: (provider, model) => ON_CARD.has(`${provider}/${model}`),
  })
}

/** Currency and zone of budgets that do not say: what the organisation is billed in, and where it reckons its days. */
export async function budgetDefaults(tx: Tx, orgId: string): Promise<{ currency: string; zone: string }> {
  const { timeZone, currency } = await tx.organisation.findUniqueOrThrow({
    where: { id: orgId },
    select: { timeZone: true, currency: true },
  })
  return { currency, zone: timeZone }
}

/**
 * Everything there is to say about a text before it is published: mistakes with their place, its cases run in both
 * directions, who could answer, which machines could not read it. The editor shows it; publishing refuses on it.
 */
export async function draftOf(tx: Tx, orgId: string, text: string, now: Date): Promise<Draft> {
  if (Buffer.byteLength(text) > BOUNDARIES_TEXT_MAX) {
    throw new AppError('TOO_LARGE', `The document is larger than ${BOUNDARIES_TEXT_MAX / 1024} KiB.`, {
      remedy: 'Shorten notes and cases.',
    })
  }
  const people = await tx.$queryRaw<Person[]>`
    select m.id, m.role::text as role, (select count(*)::int from "Machine" c where c."memberId" = m.id and c."leftAt" is null and c."revokedAt" is null) as machines
    from "Member" m where m."orgId" = ${orgId} and m."removedAt" is null`
  const organisation = await tx.organisation.findUniqueOrThrow({ where: { id: orgId }, select: { selfAnswer: true } })
  const parsed = await readDocument(tx, orgId, text, now)
  const outline = new Map(ruleOutline(text).map(entry => [entry.name, entry]))
  const errors: DraftProblem[] = [...parsed.errors]
  const warnings: DraftProblem[] = [...parsed.warnings]
  const results = runCases(parsed.rules, parsed.tests)
  const rules = parsed.rules.map(rule => draftRule(rule, parsed.rules, parsed.tests, results, outline))
  for (const rule of parsed.rules) {
    const draft = rules.find(entry => entry.name === rule.name)!
    const at = (key: string) => ({ rule: rule.name, line: draft.keyLines[key] ?? draft.line, column: 1 })
    const answer = whoAnswers(rule, people, organisation.selfAnswer)
    if (answer?.problem === 'nobody_can_answer')
      errors.push({ ...at('require'), code: 'nobody_can_answer', message: answer.message, remedy: answer.remedy })
    if (answer?.problem === 'only_the_requester')
      warnings.push({ ...at('require'), code: 'only_the_requester', message: answer.message, remedy: answer.remedy })
    if (rule.stage === 'enforce' && !draft.bindable)
      errors.push({ ...at('stage'), code: 'not_proven', ...whyUnproven(rule.name, draft) })
  }
  const named = new Set(parsed.rules.flatMap(rule => (rule.require.kind === 'approver' ? [rule.require.role] : [])))
  return {
    errors: errors.sort((a, b) => a.line - b.line || a.column - b.column),
    warnings,
    rules,
    bindable: errors.length === 0,
    ruleRoleHolders: [...named].map(role => ({ role, holders: holdersOf(role, people).length })),
    behind: await machinesBelow(tx, orgId, MIN_READER),
    places: parsed.places,
    document: parsed,
  }
}

function draftRule(
  rule: Rule,
  all: readonly Rule[],
  tests: readonly BoundaryCase[],
  results: readonly CaseResult[],
  outline: Map<string, ReturnType<typeof ruleOutline>[number]>,
): DraftRule {
  const place = outline.get(rule.name)
  // A case that names its rule is judged by that rule alone: no need to make all of them ready for it.
  const judges = tests.some(item => item.rule === undefined && item.action === rule.action) ? all : [rule]
  const bind = bindable(rule, tests, judges)
  const own = results.filter(
    ({ case: item }) => item.rule === rule.name || (item.rule === undefined && item.action === rule.action),
  )
  const there = new Set(own.map(({ case: item }) => caseKey(item)))
  const proposed = proposeCases(rule).filter(item => !there.has(caseKey(item)))
  return {
    name: rule.name,
    line: place?.startLine ?? 1,
    endLine: place?.endLine ?? 1,
    keyLines: place?.keyLines ?? {},
    describe: describeRule(rule),
    action: rule.action,
    require: requirementText(rule.require),
    stage: rule.stage,
    note: rule.note,
    bindable: bind.ok,
    lacking: bind.lacking,
    cases: own.map(asDraftCase),
    proposed: runCases([rule], proposed).map(asDraftCase),
  }
}

/** Two cases are the same when they try the same call and expect the same, whatever they are called. */
const caseKey = (item: BoundaryCase): string =>
  JSON.stringify({ ...caseToJson(item), name: undefined, rule: undefined })

function asDraftCase(result: CaseResult): DraftCase {
  const json = caseToJson(result.case)
  return {
    name: result.case.name,
    text: Object.entries(json.figures as Record<string, unknown>)
      .map(([key, value]) => `${key} ${String(value)}`)
      .join(', '),
    expect: requirementText(result.case.expect),
    got: requirementText(result.outcome),
    ok: result.ok,
    json,
  }
}

/** `boundary.check`: what the editor shows while somebody writes. */
export async function checkBoundaries(ctx: FeatureContext, input: { text: string }): Promise<Omit<Draft, 'document'>> {
  const { document: _, ...draft } = await draftOf(ctx.db, ctx.actor.orgId, input.text, ctx.now)
  return draft
}

const PREVIEW_DAYS = 30

/** `boundary.preview`: what the draft would have done to the calls that machines reported in the last thirty days. */
export async function previewBoundaries(
  ctx: FeatureContext,
  input: { text: string },
): Promise<Replay & { days: number; calls: number }> {
  const { rules, errors } = await readDocument(ctx.db, ctx.actor.orgId, input.text, ctx.now)
  if (errors.length > 0)
    throw new AppError('BAD_INPUT', 'The text has mistakes; the preview needs it whole.', { details: { errors } })
  const since = new Date(ctx.now.getTime() - PREVIEW_DAYS * 86_400_000)
  const counts = await ctx.db.hourlyCount.findMany({ where: { orgId: ctx.actor.orgId, hour: { gte: since } } })
  const labels = new Map(
    (await ctx.db.machine.findMany({ where: { orgId: ctx.actor.orgId }, select: { id: true, label: true } })).map(m => [
      m.id,
      m.label,
    ]),
  )
  const observations = counts.map((count): Observation => {
    const at = count.hour.getTime()
    const machine = labels.get(count.machineId)
    return {
      machine: count.machineId,
      sessionRef: count.sessionRef,
      at,
      action: count.action as Observation['action'],
      client: count.client,
      figures: (count.figures as CrossedFigure[]).flatMap(figure => readingFromWire(figure, at) ?? []),
      calls: count.calls,
      ...(machine === undefined ? {} : { attribution: { machine } }),
    }
  })
  return { ...replay(rules, observations), days: PREVIEW_DAYS, calls: counts.reduce((n, count) => n + count.calls, 0) }
}

import type { Attribution } from '#core/boundary/compile.ts'
import { utcDay } from '#core/day.ts'
import { formatDecimal } from '#core/decimal.ts'
import { globMatches } from '#core/glob.ts'
import { ATTRIBUTION_CONDITIONS, type AttributionCondition, type AttributionRule } from '#core/rules/shape.ts'
import type { PricedMeteredCall } from './bucket.ts'
import { heldIn } from './environment.ts'
import { asksForSecret } from './secret-name.ts'
import { NO_TAGS, type TagLists, type Tags } from './tags.ts'

/**
 * What is known of a session. Each condition has the names by which it may be matched, any of which will do: a repository is
 * `billing-api`, `acme/billing-api` and `github.com/acme/billing-api`; a machine its label and id; a member id and address.
 * A condition without a name never holds.
 */
export type SessionFacts = Partial<Record<Exclude<AttributionCondition, 'environment'>, readonly string[]>> & {
  environment?: Readonly<Record<string, string | undefined>>
  /** Instead of the environment, which stays where the session is: those `NAME=pattern` that hold in it. */
  held?: readonly string[] | undefined
}

/** What said so. `parent`: the session that started this one. */
export type TagSource = 'run' | 'parent' | 'repository' | 'organisation'
/** To whom a session belongs: every key that something said, local ones too; and who said it. */
export type Attributed = { tags: Tags; from: Readonly<Record<string, TagSource>> }
export const NOT_ATTRIBUTED: Attributed = Object.freeze({ tags: NO_TAGS, from: Object.freeze({}) })

function holds(condition: AttributionCondition, pattern: string, facts: SessionFacts): boolean {
  if (condition !== 'environment') return facts[condition]?.some(name => globMatches(pattern, name)) ?? false
  if (asksForSecret(pattern)) return false
  return facts.held?.includes(pattern) === true || heldIn([pattern], facts.environment ?? {}).length > 0
}

/** Whether all conditions of a rule hold. One that this build does not know, or a rule without any, holds nothing. */
export function ruleHolds(rule: AttributionRule, facts: SessionFacts): boolean {
  const conditions = Object.entries(rule.when)
  return (
    conditions.length > 0 &&
    conditions.every(
      ([condition, pattern]) =>
        (ATTRIBUTION_CONDITIONS as readonly string[]).includes(condition) &&
        holds(condition as AttributionCondition, pattern, facts),
    )
  )
}

/** What the organisation's rules say: of each key the first rule that holds and sets it. */
export const tagsByRules = (rules: readonly AttributionRule[], facts: SessionFacts): Tags =>
  Object.fromEntries(Object.entries(decidedByRules(rules, facts).tags).map(([key, { value }]) => [key, value]))

/** The same, with the place of the rule that decided each key; `held`: all that hold, those that came too late among them. */
export function decidedByRules(
  rules: readonly AttributionRule[],
  facts: SessionFacts,
): { tags: Record<string, { value: string; rule: number }>; held: number[] } {
  const tags: Record<string, { value: string; rule: number }> = {}
  const held: number[] = []
  for (const [rule, { when, set }] of rules.entries()) {
    if (!ruleHolds({ when, set }, facts)) continue
    held.push(rule)
    for (const [key, value] of Object.entries(set)) if (!Object.hasOwn(tags, key)) tags[key] = { value, rule }
  }
  return { tags, held }
}

/** The names that a repository goes by: `github.com/acme/billing-api` is also `acme/billing-api` and `billing-api`. */
export function repositoryNames(name: string): string[] {
  const parts = name.split('/').filter(Boolean)
  return [...new Set([parts.slice(-1), parts.slice(-2), parts].map(some => some.join('/')))].filter(Boolean)
}

/** The names that a folder goes by: its path and its last part. */
export const directoryNames = (path: string): string[] =>
  [...new Set([path, path.split('/').filter(Boolean).at(-1) ?? ''])].filter(Boolean)

/**
 * To whom a session belongs. For each key the first that says something: the run itself, the session that started it, the
 * repository's own file, the organisation's rules. What nothing says stays unattributed.
 */
export function attribute(sources: {
  run?: Tags | undefined
  parent?: Attributed | undefined
  repository?: Tags | undefined
  rules?: readonly AttributionRule[] | undefined
  facts: SessionFacts
}): Attributed {
  const said: [TagSource, Tags | undefined][] = [
    ['run', sources.run],
    ['parent', sources.parent?.tags],
    ['repository', sources.repository],
    ['organisation', tagsByRules(sources.rules ?? [], sources.facts)],
  ]
  const tags: Record<string, string> = {}
  const from: Record<string, TagSource> = {}
  for (const [source, map] of said)
    for (const [key, value] of Object.entries(map ?? NO_TAGS))
      if (!Object.hasOwn(tags, key)) {
        tags[key] = value
        from[key] = source
      }
  return { tags, from }
}

/** What boundaries of the organisation are judged by: `for:` tenants, projects, machines. */
export const boundaryAttribution = (tags: Tags, machine: string | undefined): Attribution => ({
  ...(tags.tenant === undefined ? {} : { tenant: tags.tenant }),
  ...(tags.project === undefined ? {} : { project: tags.project }),
  ...(machine === undefined ? {} : { machine }),
})

/**
 * What of the tags may leave the machine: listed values of listed keys. `unlisted` are keys of the list whose value here is on
 * no list; keys that the organisation does not have are not even named.
 */
export function listedTags(tags: Tags, lists: TagLists): { tags: Tags; unlisted: string[] } {
  const listed: Record<string, string> = {}
  const unlisted: string[] = []
  for (const key of Object.keys(tags).sort()) {
    if (!Object.hasOwn(lists, key)) continue
    if (lists[key]!.includes(tags[key]!)) listed[key] = tags[key]!
    else unlisted.push(key)
  }
  return { tags: listed, unlisted }
}

/** By UTC day and key: dollars of the cost, bounds included, that go up as unattributed though something is known here. */
export function unlistedByDay(calls: Iterable<PricedMeteredCall>): Map<string, Record<string, string>> {
  const sums = new Map<string, Map<string, bigint>>()
  for (const { atMs, unlisted = [], picoUsd } of calls)
    for (const key of unlisted) {
      const day = utcDay(atMs)
      const keys = sums.get(day) ?? new Map<string, bigint>()
      sums.set(day, keys.set(key, (keys.get(key) ?? 0n) + picoUsd))
    }
  return new Map(
    [...sums].map(([day, keys]) => [
      day,
      Object.fromEntries([...keys].sort().map(([k, pico]) => [k, formatDecimal(pico)])),
    ]),
  )
}

/** How much of an amount is not on the lists, for status: whole percent, 1 and 99 standing for anything that is not 0 or 100. */
export function sharePct(part: bigint, whole: bigint): number {
  if (whole <= 0n || part <= 0n) return 0
  if (part >= whole) return 100
  const pct = Number((part * 100n + whole / 2n) / whole)
  return Math.min(99, Math.max(1, pct))
}

/** What the organisation's lists and attribution rules said before: usage stays attributed as it was when a rule or a value goes. */

import { join } from 'node:path'
import * as z from 'zod/mini'
import { type Home, readJson, writeJson } from '#agent/home.ts'
import { DAY_MS } from '#core/day.ts'
import { TAG_KEYS_MAX } from '#core/limits.ts'
import type { TrustedRuleSet } from '#core/rule-set.ts'
import { readSpend } from '#core/rules/json.ts'
import { listedTags } from '#core/usage/attribution.ts'
import { renamedTags } from '#core/usage/renames.ts'
import { attributionOf, renamesOf, spendOf } from './attribute.ts'
import { RETAIN_DAYS } from './ledger.ts'
import type { Meter, MeteredHere } from './meter.ts'
import type { Place } from './place.ts'

/** Far more than anybody publishes in the time that the ledger is kept. */
const SETS_MAX = 200

const Kept = z.object({
  org: z.string(),
  /** The section as it was signed, of the set in force. */
  now: z.array(z.unknown()),
  /** Those before it, the oldest first, each with the moment at which the next one was issued. */
  past: z.array(z.object({ until: z.number(), section: z.array(z.unknown()) })),
})
type Kept = z.infer<typeof Kept>
type Past = { until: number; rules: ReturnType<typeof readSpend> }
type Attribution = Pick<MeteredHere, 'tags' | 'unlisted'>

export class PastRules {
  private kept: Kept | undefined
  private past: Past[] = []

  constructor(private readonly home: Home) {}

  private get path(): string {
    return join(this.home.usage, 'past-rules.json')
  }

  /** Takes note of the set in force. Throws what the disk says. */
  note(org: string, set: TrustedRuleSet | undefined, now: number): void {
    if (this.kept?.org !== org) {
      const read = Kept.safeParse(readJson(this.path))
      this.take(read.success && read.data.org === org ? read.data : undefined)
    }
    if (set === undefined) return
    const section = set.set.attribution
    const { kept } = this
    if (kept && JSON.stringify(kept.now) === JSON.stringify(section)) return
    const oldest = now - RETAIN_DAYS * DAY_MS
    const past = kept ? [...kept.past, { until: Date.parse(set.set.issuedAt), section: kept.now }] : []
    const next = { org, now: section, past: past.filter(({ until }) => until > oldest).slice(-SETS_MAX) }
    writeJson(this.home, this.path, next)
    this.take(next)
  }

  private take(kept: Kept | undefined): void {
    this.kept = kept
    this.past = (kept?.past ?? []).map(({ until, section }) => ({
      until,
      rules: readSpend({ budgets: [], rateCard: [], attribution: section }),
    }))
  }

  /**
   * Calls as they are attributed now; of a key that now nothing says, or that has a value on no list any more, by the lists and
   * rules that were in force when the call was made.
   */
  fill(calls: readonly MeteredHere[], by: Pick<Meter, 'set' | 'self'>): readonly MeteredHere[] {
    if (this.past.length === 0) return calls
    const found = new Map<Past, Map<Place, Attribution>>()
    return calls.map(call => {
      const then = this.past.find(({ until }) => call.atMs < until)
      if (then === undefined) return call
      const ofPlaces = found.get(then) ?? new Map<Place, Attribution>()
      found.set(then, ofPlaces)
      const known = ofPlaces.get(call.place) ?? filled(call, then, by)
      ofPlaces.set(call.place, known)
      return { ...call, ...known }
    })
  }
}

function filled({ place, tags: now, unlisted = [] }: MeteredHere, { rules }: Past, by: Pick<Meter, 'set' | 'self'>) {
  const said = listedTags(attributionOf(place, rules, by.self).tags, rules.tags).tags
  const tags: Record<string, string> = { ...now }
  for (const [key, value] of Object.entries(renamedTags(renamesOf(spendOf(by.set)), said)))
    if (!Object.hasOwn(tags, key) && Object.keys(tags).length < TAG_KEYS_MAX) tags[key] = value
  return { tags, unlisted: unlisted.filter(key => !Object.hasOwn(tags, key)) }
}

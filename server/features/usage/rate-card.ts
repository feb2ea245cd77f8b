import type { MemberActor } from '#core/actor.ts'
import type { JsonObject } from '#core/boundary/rule.ts'
import { DAY_MS, utcDay } from '#core/day.ts'
import { formatDecimal } from '#core/decimal.ts'
import {
  type CompiledEntry,
  type CompiledRow,
  DEFAULT_UNPRICED,
  PRICE_AXES,
  type PriceAxis,
  type Rates,
} from '#core/pricing.ts'
import { rateToJson, unpricedToJson } from '#core/rules/json.ts'
import type { FeatureContext } from '../context.ts'
import { ratesInForce, spendInForce } from './in-force.ts'

/** US dollars per million tokens, of web searches per request: exact decimals. */
export type PricesShown = Readonly<Record<PriceAxis, string>>
export type DatedPrices = {
  whose: CompiledEntry['kind']
  /** First UTC day; null: from ever. */
  from: string | null
  /** First UTC day on which it does not hold any more; null: it has no end. */
  until: string | null
  prices: PricesShown
  long: { above: number; prices: PricesShown } | null
  /** Whether it holds today. */
  now: boolean
}
export type ModelPrices = {
  provider: string
  id: string
  aliases: string[]
  /** In order of their days. */
  entries: DatedPrices[]
}

type Ctx = FeatureContext<MemberActor>
const PAGE = 25

const shownPrices = (rates: Readonly<Record<PriceAxis, bigint>>): PricesShown =>
  Object.fromEntries(
    PRICE_AXES.map(axis => [axis, formatDecimal(axis === 'webSearches' ? rates[axis] : rates[axis] * 1_000_000n)]),
  ) as PricesShown

/** Every model that has a price now, by provider and id, each with all its dated prices. */
export async function allPrices({ db, actor, now }: Ctx): Promise<ModelPrices[]> {
  return pricesOf((await ratesInForce(db, actor.orgId)).rates, now)
}

/** Every model with a price, by each name it has, as of a moment. */
export function pricesOf({ byId }: Rates, now: Date): ModelPrices[] {
  const models = new Map<string, { row: CompiledRow; names: Set<string> }>()
  for (const [name, rows] of byId)
    for (const row of rows) {
      const key = `${row.provider} ${row.id}`
      const known = models.get(key) ?? { row, names: new Set<string>() }
      models.set(key, known)
      // Under its own id stands what holds; a name that is another model's too stands for whichever comes first.
      if (name === row.id) known.row = row
      else if (rows[0] === row || rows.every(one => one.provider !== row.provider || one === row)) known.names.add(name)
    }
  return [...models.values()]
    .map(({ row, names }): ModelPrices => {
      const { provider, id } = row
      return { provider, id, aliases: [...names].sort(), entries: datedPrices(row, now) }
    })
    .sort((a, b) => (a.provider === b.provider ? (a.id < b.id ? -1 : 1) : a.provider < b.provider ? -1 : 1))
}

function datedPrices({ entries, fromEver }: CompiledRow, now: Date): DatedPrices[] {
  const at = now.getTime()
  const current = entries.findLast(entry => entry.fromMs <= at) ?? (fromEver ? entries[0] : undefined)
  return entries.map((entry, i): DatedPrices => {
    const endMs = entries[i + 1]?.fromMs ?? entry.untilMs
    const ends = entry.untilMs !== undefined && (endMs === undefined || entry.untilMs < endMs) ? entry.untilMs : endMs
    return {
      whose: entry.kind,
      from: Number.isFinite(entry.fromMs) && !(i === 0 && fromEver) ? utcDay(entry.fromMs) : null,
      until: ends === undefined ? null : utcDay(ends),
      prices: shownPrices(entry.rates),
      long: entry.long ? { above: entry.long.above, prices: shownPrices(entry.long.rates) } : null,
      now: entry === current && (ends === undefined || ends > at),
    }
  })
}

export type PricesAsked = { search?: string | undefined; provider?: string | undefined; page?: number | undefined }

/** One page of the models that have a price. `search` is a part of the id or of a name it also goes by. */
export async function listPrices(ctx: Ctx, { search = '', provider, page = 1 }: PricesAsked) {
  const all = await allPrices(ctx)
  const wanted = search.trim().toLowerCase()
  const found = all.filter(
    model =>
      (provider === undefined || model.provider === provider) &&
      [model.id, ...model.aliases].some(name => name.toLowerCase().includes(wanted)),
  )
  const pages = Math.max(1, Math.ceil(found.length / PAGE))
  const at = Math.min(Math.max(1, page), pages)
  return {
    models: found.slice((at - 1) * PAGE, at * PAGE),
    found: found.length,
    all: all.length,
    page: at,
    pages,
    providers: [...new Set(all.map(model => model.provider))],
  }
}

/** The organisation's own prices as they are written, and what holds for models without one. */
export async function ownPrices({ db, actor, now }: Ctx) {
  const { rates: own, unpriced, version } = await spendInForce(db, actor.orgId)
  const { rates } = await ratesInForce(db, actor.orgId)
  const today = utcDay(now.getTime())
  const policy = unpriced ?? DEFAULT_UNPRICED
  return {
    version,
    card: rates.name.split('+')[0]!,
    overrides: own.map((rate, index) => ({
      index,
      /** In the document's own keys: what an edit of it has to find. */
      was: rateToJson(rate) as JsonObject,
      ended: rate.until !== undefined && rate.until <= today,
      begins: rate.from !== undefined && rate.from > today,
    })),
    unpriced: { ...unpricedToJson(policy), isDefault: unpriced === undefined } as {
      on_unpriced_model: string
      providers: string[]
      isDefault: boolean
    },
    /** The bound for a model without a price, and the model that sets it on each axis. */
    bound: { prices: shownPrices(rates.bound.rates), setBy: rates.bound.setBy },
    today,
    tomorrow: utcDay(now.getTime() + DAY_MS),
  }
}

import type { MemberActor } from '#core/actor.ts'
import type { JsonObject } from '#core/boundary/rule.ts'
import { utcDay } from '#core/day.ts'
import { AppError } from '#core/error.ts'
import { demandFresh } from '#core/permission.ts'
import { parseRuleDocument } from '#core/rules/document.ts'
import { upsertBudget } from '#core/rules/edit.ts'
import { exchangeToJson } from '#core/rules/json.ts'
import { isCurrency } from '#core/rules/read-exchange.ts'
import { hasRateSince } from '#core/spend/exchange.ts'
import { notify } from '../../bus.ts'
import type { Tx } from '../../db.ts'
import { budgetsInForce } from '../budget/in-force.ts'
import type { FeatureContext } from '../context.ts'
import { recordEvidence } from '../evidence.ts'
import { etagOf, newestRuleSet, publishIn } from '../rule-set.ts'

/** One exchange rate of the text in force. `state`: of its currency the one of today, one of before, or one that is to come. */
export type RateView = {
  index: number
  /** As the document says it, which an edit must find again. */
  was: JsonObject
  currency: string
  from: string
  perUsd: string
  state: 'past' | 'now' | 'later'
}

export type CurrencyView = {
  /** What reports and statements are in, and budgets that do not say. */
  currency: string
  /** Today in UTC, as rates are dated. */
  today: string
  rates: RateView[]
  /** Currencies that the organisation could be billed in from today on. */
  choices: string[]
  /** Of each foreign currency the budgets that are counted in it. */
  budgets: { name: string; currency: string }[]
}

/** What the organisation is billed in, and every exchange rate of the rules in force: by currency, the newest first. */
export async function getCurrency({ db, actor, now }: FeatureContext<MemberActor>): Promise<CurrencyView> {
  const { orgId } = actor
  const { currency } = await db.organisation.findUniqueOrThrow({ where: { id: orgId }, select: { currency: true } })
  const newest = await newestRuleSet(db, orgId)
  const { budgets, exchange } = await budgetsInForce(db, orgId)
  const today = utcDay(now.getTime())
  const rates = parseRuleDocument(newest?.text ?? '').exchange.map((rate, index): RateView => {
    const next = exchange.get(rate.currency)?.find(({ from }) => from > rate.from)
    const state = rate.from > today ? 'later' : next !== undefined && next.from <= today ? 'past' : 'now'
    return { index, was: exchangeToJson(rate), ...rate, state }
  })
  return {
    currency,
    today,
    rates: rates.sort((a, b) =>
      a.currency === b.currency ? (a.from < b.from ? 1 : -1) : a.currency < b.currency ? -1 : 1,
    ),
    choices: ['USD', ...[...exchange.keys()].filter(code => hasRateSince(exchange, code, today)).sort()],
    budgets: budgets
      .filter(budget => budget.currency !== 'USD')
      .map(({ name, currency: of }) => ({ name, currency: of })),
  }
}

/** The exchange rates as a sheet, as the page lists them. */
export async function exchangeSheet(ctx: FeatureContext<MemberActor>) {
  const { rates } = await getCurrency(ctx)
  return {
    columns: ['currency', 'from_utc_day', 'per_usd', 'state'],
    rows: rates.map(({ currency, from, perUsd, state }) => [currency, from, perUsd, state]),
  }
}

/**
 * Sets what the organisation is billed in: reports and open statements from now on. Months that were closed keep theirs, and so
 * do budgets: one that does not say its currency is made to say it, in a version of the rules that is published with the change.
 * @throws AppError FORBIDDEN, BAD_INPUT for what is no currency or has no exchange rate of today, and as publishing does
 */
export async function changeCurrency(
  ctx: FeatureContext,
  input: { currency: string },
): Promise<{ version: number | null }> {
  const { actor } = ctx
  demandFresh(actor, 'currency.change', ctx.now)
  const { currency } = input
  if (!isCurrency(currency)) throw new AppError('BAD_INPUT', 'A currency is three capital letters, such as EUR.')
  return ctx.db.$transaction(async tx => {
    // Publications take the same lock: no budget or rate changes meanwhile.
    await tx.$queryRaw`select 1 from "Organisation" where id = ${actor.orgId} for no key update`
    const before = await tx.organisation.findUniqueOrThrow({ where: { id: actor.orgId } })
    if (before.currency === currency) return { version: null }
    const { exchange } = await budgetsInForce(tx, actor.orgId)
    if (!hasRateSince(exchange, currency, utcDay(ctx.now.getTime())))
      throw new AppError('BAD_INPUT', `There is no exchange rate for ${currency} of today.`, {
        remedy: 'Enter one under Spend, Currency first.',
      })
    await tx.organisation.update({ where: { id: actor.orgId }, data: { currency } })
    const version = await keepBudgets(tx, ctx, { from: before.currency, to: currency, zone: before.timeZone })
    await notify(tx, { org: actor.orgId, what: 'settings' })
    await recordEvidence(tx, ctx, {
      kind: 'organisation.setting_changed',
      subject: { kind: 'organisation', id: actor.orgId },
      data: { setting: 'currency', from: before.currency, to: currency },
    })
    return { version }
  })
}

/** Writes into budgets that do not say their currency the one that they have, and publishes that; null where all of them say it. */
async function keepBudgets(
  tx: Tx,
  ctx: FeatureContext,
  { from, to, zone }: { from: string; to: string; zone: string },
): Promise<number | null> {
  const { orgId } = ctx.actor
  const newest = await newestRuleSet(tx, orgId)
  if (!newest) return null
  const { budgets } = await budgetsInForce(tx, orgId)
  let { text } = newest
  for (const budget of budgets) {
    const edited = upsertBudget(text, budget, { defaults: { currency: to, zone } })
    if (!edited.ok)
      throw new AppError(
        'BAD_INPUT',
        `The budget ${budget.name} does not say its currency, and cannot be changed here.`,
        {
          remedy: `Write currency: ${budget.currency} into it in the text of the rules, publish, then do this again.`,
        },
      )
    text = edited.text
  }
  if (text === newest.text) return null
  const note = `Billed in ${to} from now on; budgets that did not say so stay in ${from}`
  return (await publishIn(tx, ctx, { text, note, etag: etagOf(newest) })).version
}

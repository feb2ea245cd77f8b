import type { MemberActor } from '#core/actor.ts'
import type { Basis } from '#core/budget/budget.ts'
import { formatDecimal } from '#core/decimal.ts'
import { normaliseEmail } from '#core/email.ts'
import { AppError } from '#core/error.ts'
import { demand } from '#core/permission.ts'
import { plainName } from '#core/plain-text.ts'
import { type AllocationRule, checkAllocation, describeAllocation } from '#core/spend/allocate.ts'
import { drawMonth, inOrder, type SharedRule, sharedName } from '#core/spend/draw.ts'
import { TAG_KEY, TAG_VALUE } from '#core/usage/tags.ts'
import type { Tx } from '../../db.ts'
import { type FeatureContext, newId, notFound } from '../context.ts'
import { recordEvidence } from '../evidence.ts'
import { openBook } from './book.ts'
import { lockStatements } from './close.ts'
import { takersOf } from './drawn.ts'
import { renamesOfMonths, rowsByMonth } from './months.ts'
import { allocationRule, statementSetting } from './setting.ts'

export type AllocationAsked = SharedRule

/** Rules of shared amounts in one organisation, at most. */
const RULES_MOST = 20

function readRule({ key, value, rule }: AllocationAsked, tenants: readonly string[]): void {
  const isUnattributed = key === '' && value === ''
  if (!isUnattributed && (!TAG_KEY.test(key) || !TAG_VALUE.test(value)))
    throw new AppError(
      'BAD_INPUT',
      'What is shared is named by a tag and one of its values, such as team and platform.',
    )
  checkAllocation(rule, tenants)
  if (rule.kind === 'fixed' && Object.keys(rule.shares).length === 0)
    throw new AppError('BAD_INPUT', 'Write a share for one tenant at least.')
  if (rule.kind === 'fixed' && key === 'tenant' && Object.hasOwn(rule.shares, value))
    throw new AppError('BAD_INPUT', `${value} itself takes no share of what it shares.`)
}

/**
 * Says who bears what is nobody's own, from the months on that nothing is closed of. With `rule` null a shared value is its
 * tenants' own again, and what is unattributed stays with the organisation.
 */
export async function setAllocation(
  ctx: FeatureContext,
  { key, value, rule }: { key: string; value: string; rule: AllocationRule | null },
): Promise<void> {
  const { actor } = ctx
  demand(actor, 'statement.arrange')
  const { orgId } = actor
  await ctx.db.$transaction(async tx => {
    await lockStatements(tx, orgId)
    if (rule !== null) readRule({ key, value, rule }, [...(await openBook(tx, orgId, ctx.now)).tenants.keys()])
    const where = { orgId_key_value: { orgId, key, value } }
    const before = await tx.allocationRule.findUnique({ where })
    const words = (one: AllocationRule | null) =>
      one ? describeAllocation(one) : key === '' ? 'not allocated' : "each tenant's own"
    const from = words(before && allocationRule(before.kind, before.shares as Record<string, string>))
    if (from === words(rule)) return
    if (rule === null) await tx.allocationRule.delete({ where })
    else {
      if (!before && (await tx.allocationRule.count({ where: { orgId } })) >= RULES_MOST)
        throw new AppError('TOO_LARGE', `An organisation has at most ${RULES_MOST} of these rules.`)
      const data = { kind: rule.kind, shares: rule.kind === 'fixed' ? { ...rule.shares } : {} }
      await tx.allocationRule.upsert({ where, create: { orgId, key, value, ...data }, update: data })
    }
    await recordEvidence(tx, ctx, {
      kind: 'statement.rule_changed',
      subject: { kind: 'organisation', id: orgId },
      data: { of: sharedName({ key, value }), from, to: words(rule) },
    })
  })
}

export type AllocationPreview = {
  month: string
  currency: string
  /** What is shared by this rule in that month, at known prices, and at most of what has none. Decimals. */
  amount: string
  atMost: string
  /** Every tenant that takes part: what it spent itself, and what it would take. */
  parts: { tenant: string; name: string; own: string; part: string }[]
  /** What would stay with the organisation. */
  left: string
}

/** What each tenant would take of a month by a rule, before it is set. @throws AppError BAD_INPUT, NOT_FOUND for no such month */
export async function previewAllocation(
  ctx: FeatureContext<MemberActor>,
  asked: AllocationAsked & { month: string },
): Promise<AllocationPreview> {
  const { orgId } = ctx.actor
  const book = await openBook(ctx.db, orgId, ctx.now)
  const month = book.months.find(one => one.month === asked.month)
  if (!month) throw notFound('month')
  readRule(asked, [...book.tenants.keys()])
  const others = book.setting.rules.filter(({ key, value }) => key !== asked.key || value !== asked.value)
  const { key, value, rule } = asked
  const rules = inOrder([...others, { key, value, rule }])
  const drawnBy = { ...month, rules, settled: false }
  const renames = await renamesOfMonths(ctx.db, orgId, book.closed)
  const rows = (await rowsByMonth(ctx.db, orgId, book.org.zone, [drawnBy], book.setting.rates, renames)).get(
    month.month,
  )!
  const tenants = takersOf(book.known, rows, rules)
  const { own, shared: amounts } = drawMonth(
    rows,
    { tenants, rules },
    { basis: month.basis, currency: month.currency, rates: book.setting.rates },
  )
  const drawn = amounts.find(({ of }) => of === sharedName(asked))!
  const sum = (lines: readonly { kind: string; pico: bigint }[] | undefined, kind: string) =>
    (lines ?? []).reduce((n, line) => (line.kind === kind ? n + line.pico : n), 0n)
  const all = [...[...drawn.parts.values()].flat(), ...drawn.left]
  return {
    month: month.month,
    currency: month.currency,
    amount: formatDecimal(sum(all, 'allocated')),
    atMost: formatDecimal(sum(all, 'bound')),
    parts: tenants.map(tenant => ({
      tenant,
      name: book.tenants.get(tenant)?.name ?? tenant,
      own: formatDecimal(sum(own.get(tenant), 'usage')),
      part: formatDecimal(sum(drawn.parts.get(tenant), 'allocated')),
    })),
    left: formatDecimal(sum(drawn.left, 'allocated')),
  }
}

/** What statements count and from which month there are any; both stay once one is closed. @throws AppError CONFLICT then */
export async function setStatements(
  ctx: FeatureContext,
  asked: { basis: Basis; firstMonth: string | null },
): Promise<void> {
  const { actor } = ctx
  demand(actor, 'statement.arrange')
  const { orgId } = actor
  await ctx.db.$transaction(async tx => {
    await lockStatements(tx, orgId)
    const before = await statementSetting(tx, orgId)
    const changed = (['basis', 'firstMonth'] as const).filter(name => before[name] !== asked[name])
    if (changed.length === 0) return
    if ((await tx.statement.count({ where: { orgId } })) > 0)
      throw new AppError('CONFLICT', 'A statement is closed: what they count, and from when on, stays.', {
        details: { why: 'closed' },
      })
    const data = { basis: asked.basis, firstMonth: asked.firstMonth }
    await tx.statementSetting.upsert({ where: { orgId }, create: { orgId, ...data }, update: data })
    for (const setting of changed)
      await recordEvidence(tx, ctx, {
        kind: 'statement.rule_changed',
        subject: { kind: 'organisation', id: orgId },
        data: {
          setting,
          from: before[setting] ?? 'the first with usage',
          to: asked[setting] ?? 'the first with usage',
        },
      })
  })
}

/** A tenant's name, and whom its statements are mailed to from now on; null: nobody. @throws AppError BAD_INPUT, NOT_FOUND */
export async function setContact(
  ctx: FeatureContext,
  { tenant, ...asked }: { tenant: string; name: string; contact: string | null },
): Promise<void> {
  const { actor } = ctx
  demand(actor, 'tenant.change')
  const { orgId } = actor
  const name = plainName(asked.name)
  if (name === '') throw new AppError('BAD_INPUT', 'A tenant needs a name.')
  const contactEmail = asked.contact === null ? null : normaliseEmail(asked.contact)
  await ctx.db.$transaction(async tx => {
    await lockStatements(tx, orgId)
    if (!(await isTenant(tx, orgId, tenant, ctx.now))) throw notFound('tenant')
    const where = { orgId_key: { orgId, key: tenant } }
    const before = await tx.tenant.findUnique({ where })
    if (before?.name === name && before.contactEmail === contactEmail) return
    await tx.tenant.upsert({
      where,
      create: { id: newId(ctx, 'tenant'), orgId, key: tenant, name, contactEmail },
      update: { name, contactEmail },
    })
    // Nobody's address stands in the ledger.
    await recordEvidence(tx, ctx, {
      kind: 'tenant.contact_changed',
      subject: { kind: 'organisation', id: orgId },
      data: { tenant, ...(contactEmail === null ? { removed: true } : {}) },
    })
  })
}

async function isTenant(tx: Tx, orgId: string, tenant: string, now: Date): Promise<boolean> {
  return (await openBook(tx, orgId, now)).tenants.has(tenant)
}

import { base64url, utf8 } from '#core/bytes.ts'
import { isMonth } from '#core/day.ts'
import { formatDecimal } from '#core/decimal.ts'
import { AppError } from '#core/error.ts'
import { readAnthropicCosts } from '#core/invoice/anthropic.ts'
import { readInvoiceCsv, readLine } from '#core/invoice/csv-lines.ts'
import type { InvoiceLine } from '#core/invoice/line.ts'
import { readOpenAiCosts } from '#core/invoice/openai.ts'
import { canonicalJson, type Json } from '#core/json.ts'
import { INVOICE_HAND_LINES_MAX } from '#core/limits.ts'
import { demand } from '#core/permission.ts'
import { plainName } from '#core/plain-text.ts'
import { PROVIDERS, type Provider } from '#core/pricing.ts'
import { CURRENCY } from '#core/spend/exchange.ts'
import { MODEL_ID } from '#core/usage/bucket.ts'
import { notify } from '../../bus.ts'
import type { Tx } from '../../db.ts'
import { crypto } from '../../keys/crypto.ts'
import { type FeatureContext, newId, notFound } from '../context.ts'
import { recordEvidence } from '../evidence.ts'
import { shortest } from '../usage/price-day.ts'
import { invoiceData } from './spread.ts'

export const SOURCES = ['anthropic', 'openai', 'csv', 'hand'] as const
export type Source = (typeof SOURCES)[number]

export type HandLine = { day?: string; model?: string; description?: string; amount: string }

export type InvoiceAsked = {
  provider: Provider
  /** UTC: `2026-11`. */
  month: string
  number?: string
  /** Of lines that name none; reports name their own. */
  currency: string
  /** Takes the place of the invoice of that provider and month, whose id this is. */
  replaces?: string
} & ({ source: 'anthropic' | 'openai' | 'csv'; text: string } | { source: 'hand'; lines: HandLine[] })

/** What is read of an invoice before anything is kept. @throws AppError BAD_INPUT naming the place */
export function readInvoice(asked: InvoiceAsked): { lines: InvoiceLine[]; digest: string } {
  const { provider, month, currency } = asked
  if (!PROVIDERS.includes(provider)) throw new AppError('BAD_INPUT', 'That is no provider.')
  if (!isMonth(month)) throw new AppError('BAD_INPUT', 'month is not a month, such as 2026-11.')
  if (!CURRENCY.test(currency)) throw new AppError('BAD_INPUT', 'A currency is three capital letters, such as USD.')
  const lines = readLines(asked)
  const first = lines[0]
  if (!first) throw new AppError('BAD_INPUT', 'There is no amount in it.')
  const other = lines.find(line => line.currency !== first.currency)
  if (other)
    throw new AppError('BAD_INPUT', `It is in ${first.currency} and in ${other.currency}.`, {
      remedy: 'Import one currency at a time.',
    })
  const outside = lines.find(({ day }) => day !== undefined && day.slice(0, 7) !== month)
  if (outside)
    throw new AppError('BAD_INPUT', `It has ${outside.day}, which is not in ${month}.`, {
      remedy: 'An invoice is of one month, by UTC days. Choose that month, or ask the provider for one month only.',
    })
  const text = asked.source === 'hand' ? canonicalJson(asked.lines as unknown as Json) : asked.text
  return { lines, digest: base64url(crypto.sha256(utf8(text))) }
}

function readLines(asked: InvoiceAsked): InvoiceLine[] {
  switch (asked.source) {
    case 'anthropic':
      return readAnthropicCosts(asked.text).map(knownModel)
    case 'openai':
      return readOpenAiCosts(asked.text).map(knownModel)
    case 'csv':
      return readInvoiceCsv(asked.text, asked.currency)
    case 'hand':
      if (asked.lines.length > INVOICE_HAND_LINES_MAX)
        throw new AppError('TOO_LARGE', `There are more than ${INVOICE_HAND_LINES_MAX} lines.`, {
          remedy: 'Import a CSV.',
        })
      return asked.lines.map((line, i) => readLine(line, asked.currency, column => `line ${i + 1}, ${column}`))
  }
}

/** A report's name of a model that is no id is no model of ours either. */
function knownModel({ model, ...line }: InvoiceLine): InvoiceLine {
  return model !== undefined && MODEL_ID.test(model) ? { ...line, model } : line
}

/**
 * Takes an invoice. There is one for each provider and month: another is refused with the id of the one that is there, until it is
 * said that this one takes its place; how its difference was spread stays then.
 * @throws AppError BAD_INPUT naming the place; CONFLICT, `details.why` `same_file` or `exists`
 */
export async function takeInvoice(ctx: FeatureContext, asked: InvoiceAsked): Promise<{ id: string; lines: number }> {
  const { actor } = ctx
  demand(actor, 'invoice.change')
  const { lines, digest } = readInvoice(asked)
  const { orgId } = actor
  const { provider, month } = asked
  const number = plainName(asked.number ?? '').slice(0, 60) || null
  return ctx.db.$transaction(async tx => {
    // One after another: two people with the same file, or one who presses twice.
    await tx.$queryRaw`select 1 from "Organisation" where id = ${orgId} for no key update`
    const there = await tx.invoice.findUnique({ where: { orgId_provider_month: { orgId, provider, month } } })
    if (there?.digest === digest && there.number === number)
      throw new AppError('CONFLICT', 'This very file is imported already; nothing was changed.', {
        details: { why: 'same_file', id: there.id },
      })
    if (there && asked.replaces !== there.id)
      throw new AppError('CONFLICT', `There is an invoice of ${provider} for ${month} already.`, {
        remedy: 'Replace it, or choose another month.',
        details: { why: 'exists', id: there.id },
      })
    if (!there && asked.replaces !== undefined) throw notFound('invoice')
    const id = there?.id ?? newId(ctx, 'invoice')
    const total = lines.reduce((sum, { pico }) => sum + pico, 0n)
    const data = {
      number,
      currency: lines[0]!.currency,
      source: asked.source,
      digest,
      lineCount: lines.length,
      total: formatDecimal(total),
      importedAt: ctx.now,
      importedById: actor.memberId,
    }
    if (there) {
      await tx.invoiceLine.deleteMany({ where: { invoiceId: id, orgId } })
      await tx.invoice.update({ where: { id }, data })
    } else await tx.invoice.create({ data: { id, orgId, provider, month, ...data } })
    await putLines(tx, orgId, id, lines)
    await notify(tx, { org: orgId, what: 'usage' })
    await recordEvidence(tx, ctx, {
      kind: 'invoice.imported',
      subject: { kind: 'invoice', id },
      data: {
        ...invoiceData(asked),
        source: asked.source,
        digest,
        lines: lines.length,
        total: data.total,
        currency: data.currency,
        ...(there
          ? { replaced: there.digest, was: shortest(there.total.toString()), wasCurrency: there.currency }
          : {}),
      },
    })
    return { id, lines: lines.length }
  })
}

/** Lines of one statement to the database. */
const AT_ONCE = 5000

async function putLines(tx: Tx, orgId: string, invoiceId: string, lines: readonly InvoiceLine[]): Promise<void> {
  for (let at = 0; at < lines.length; at += AT_ONCE) {
    const rows = lines.slice(at, at + AT_ONCE).map(({ day, model, description, pico }, i) => ({
      number: at + i + 1,
      day: day ?? null,
      model: model ?? null,
      description: description ?? null,
      amount: formatDecimal(pico),
    }))
    await tx.$executeRaw`
      insert into "InvoiceLine" ("orgId", "invoiceId", number, day, model, description, amount)
      select ${orgId}, ${invoiceId}, r.number, r.day, r.model, r.description, r.amount
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r(number int, day date, model text, description text, amount numeric)`
  }
}

/** Removes an invoice and what was spread of it; a month that was closed with it gets an adjustment. */
export async function removeInvoice(ctx: FeatureContext, { id }: { id: string }): Promise<void> {
  const { actor } = ctx
  demand(actor, 'invoice.change')
  const { orgId } = actor
  await ctx.db.$transaction(async tx => {
    await tx.$queryRaw`select 1 from "Organisation" where id = ${orgId} for no key update`
    const invoice = await tx.invoice.findFirst({ where: { id, orgId }, include: { spread: true } })
    if (!invoice) throw notFound('invoice')
    await tx.invoice.delete({ where: { id } })
    await notify(tx, { org: orgId, what: 'usage' })
    await recordEvidence(tx, ctx, {
      kind: 'invoice.removed',
      subject: { kind: 'invoice', id },
      data: {
        ...invoiceData(invoice),
        digest: invoice.digest,
        total: shortest(invoice.total.toString()),
        currency: invoice.currency,
        spread: invoice.spread !== null,
      },
    })
  })
}

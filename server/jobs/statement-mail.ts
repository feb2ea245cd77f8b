import { csvText } from '#core/csv.ts'
import { monthWords } from '#core/day.ts'
import { parseDecimal } from '#core/decimal.ts'
import { moneyText } from '#core/spend/round.ts'
import type { ClosedStatement } from '#core/spend/statement.ts'
import type { Db } from '../db.ts'
import { statementMail } from '../email/statement.ts'
import { env } from '../env.ts'
import { readClosed } from '../features/statement/closed.ts'
import { STATEMENT_COLUMNS, statementRows } from '../features/statement/sheet.ts'
import { letter, mailTime, messageId } from './mail-letter.ts'
import type { Jobs } from './queue.ts'
import { deliver } from './send-mail.ts'

/** Mails a closed statement to whom it was noted for, out of the bytes that were closed: the same at every try. */
export async function mailStatement(
  db: Db,
  { org: orgId, tenant, month, number }: Jobs['statement.mail'],
  now: Date,
): Promise<void> {
  const key = { orgId, tenant, month }
  const [noted, row, org] = await Promise.all([
    db.statementMail.findUnique({ where: { orgId_tenant_month_number: { ...key, number } } }),
    db.statement.findUnique({ where: { orgId_tenant_month: key } }),
    db.organisation.findUnique({ where: { id: orgId }, select: { name: true, slug: true } }),
  ])
  if (!noted || !row || !org) return
  const doc = readClosed(row.bytes)
  const file = `${org.slug}-${tenant}-${month}.csv`
  const money = (decimal: string) => moneyText(parseDecimal(decimal) ?? 0n, { currency: doc.currency })
  const mail = statementMail({
    org: org.name,
    tenant: doc.tenant.name,
    month: monthWords(month),
    total: money(doc.total),
    parts: partsOf(doc).map(([label, pico]) => [label, moneyText(pico, { currency: doc.currency })]),
    ...(doc.carried === '0' ? {} : { carried: money(doc.carried) }),
    basis: doc.basis,
    boundAccepted: doc.boundAccepted,
    closedAt: mailTime(new Date(doc.closedAt)),
    digest: row.digest,
    file,
    url: `${env().publicUrl}/${org.slug}/spend/statements/${month}/${encodeURIComponent(tenant)}`,
  })
  const text = csvText(STATEMENT_COLUMNS, statementRows(doc, tenant))
  const id = messageId('statement', orgId, tenant, month, String(number))
  await deliver(
    db,
    { ...letter(mail, noted.to, id), files: [{ name: file, type: 'text/csv; charset=utf-8', text }] },
    now,
  )
}

const PARTS = [
  'Own usage',
  'Share of what is nobody’s own',
  'Difference from providers’ invoices',
  'Adjustments of earlier months',
  'Credit',
  'Carried to the next month',
] as const
type Part = (typeof PARTS)[number]

function partOf({ kind, of, month }: ClosedStatement['lines'][number]): Part {
  if (kind === 'credit') return 'Credit'
  if (kind === 'carried') return 'Carried to the next month'
  if (month !== undefined) return 'Adjustments of earlier months'
  if (kind === 'reconciliation') return 'Difference from providers’ invoices'
  return of === undefined ? 'Own usage' : 'Share of what is nobody’s own'
}

/** Sums of what is in the total, as shown: they add up to it. */
function partsOf({ lines }: ClosedStatement): [Part, bigint][] {
  const sums = new Map<Part, bigint>()
  for (const line of lines.filter(({ counted }) => counted)) {
    const part = partOf(line)
    sums.set(part, (sums.get(part) ?? 0n) + (parseDecimal(line.shown) ?? 0n))
  }
  return PARTS.flatMap(part => (sums.has(part) ? [[part, sums.get(part)!]] : []))
}

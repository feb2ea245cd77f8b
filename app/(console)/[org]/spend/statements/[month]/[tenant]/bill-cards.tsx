import { Card } from '#app/_ui/card.tsx'
import { cn } from '#app/_ui/class-names.ts'
import { formatCount } from '#app/_ui/format.ts'
import { Table } from '#app/_ui/table.tsx'
import { formatDecimal } from '#core/decimal.ts'
import {
  type Bill,
  exactMoney,
  isNothing,
  type Line,
  lineWords,
  modelWords,
  money,
  shownMoney,
  sumOf,
} from '../../words.ts'

/** Nothing on a bill is cut off, whatever people called it: there is no pointer on paper. */
const WRAP = '[overflow-wrap:anywhere]'

/** Where a line stands on the bill. */
type Part = 'own' | 'shared' | 'invoice' | 'later' | 'beside'

function partOf(line: Line): Part {
  if (!line.counted) return 'beside'
  if (line.month !== undefined || line.kind === 'credit' || line.kind === 'carried') return 'later'
  if (line.kind === 'reconciliation') return 'invoice'
  return line.of === undefined ? 'own' : 'shared'
}

const TITLES: Record<Exclude<Part, 'own' | 'beside'>, { title: string; sub: string }> = {
  shared: { title: 'Allocated', sub: 'a part of what is nobody’s own' },
  invoice: { title: 'Invoice difference', sub: 'a part of what providers billed beyond our reckoning' },
  later: { title: 'Earlier months', sub: 'what closed months turned out to be more or less' },
}

const shownSum = (lines: readonly Line[]): string => formatDecimal(sumOf(lines.map(({ shown }) => shown)))

/** The bill itself: own usage by project and model, then what is allocated, adjusted and credited, then the total. */
export function BillCards({ bill }: { bill: Bill }) {
  const { lines, currency } = bill
  const of = (part: Part) => lines.filter(line => partOf(line) === part)
  const own = of('own')
  const beside = of('beside')
  return (
    <>
      <Card title="Own usage" sub="by project and model">
        <UsageTable lines={own} currency={currency} />
      </Card>
      {(['shared', 'invoice', 'later'] as const).map(part => {
        const some = of(part)
        return some.length === 0 ? null : (
          <Card key={part} title={TITLES[part].title} sub={TITLES[part].sub}>
            <OtherTable lines={some} currency={currency} caption={TITLES[part].title} />
          </Card>
        )
      })}
      <TotalCard bill={bill} parts={[own, of('shared'), of('invoice'), of('later')]} />
      {beside.length > 0 && (
        <Card
          title="Beside the total"
          sub="not in it"
          note={
            beside.some(({ kind }) => kind === 'bound')
              ? 'What has no price stands at the dearest price it can have had; it is at most this.'
              : undefined
          }
        >
          <OtherTable lines={beside} currency={currency} caption="Not in the total" beside />
        </Card>
      )}
    </>
  )
}

type UsageRow = { key: string; project: string; line?: Line; sum?: string }

function UsageTable({ lines, currency }: { lines: readonly Line[]; currency: string }) {
  const projects = new Map<string, Line[]>()
  for (const line of lines) {
    const name = line.project ?? ''
    projects.set(name, [...(projects.get(name) ?? []), line])
  }
  const rows = [...projects].flatMap(([project, some]): UsageRow[] => [
    ...some.map((line, i) => ({
      key: `${project} ${line.kind} ${line.provider} ${line.model}`,
      project: i === 0 ? project || 'no project' : '',
      line,
    })),
    ...(some.length > 1 && projects.size > 1 ? [{ key: `${project} sum`, project: '', sum: shownSum(some) }] : []),
  ])
  return (
    <Table
      caption="Own usage by project and model"
      rows={rows}
      rowKey={row => row.key}
      empty={<p className="px-4 py-5 text-ink-2">No usage of its own in this month.</p>}
      columns={[
        {
          key: 'project',
          head: 'Project',
          cell: ({ project, line }) => (
            <span className={cn(WRAP, project === 'no project' ? 'text-ink-2' : 'font-medium')}>
              {project || <span className="sr-only">{line ? 'the same' : 'sum'}</span>}
            </span>
          ),
        },
        {
          key: 'model',
          head: 'Model',
          cell: ({ line }) =>
            line ? (
              <>
                <span className={WRAP}>{modelWords(line)}</span>{' '}
                <span className="text-ink-3 text-xs">
                  {line.provider}
                  {line.kind === 'bound' && ', no price: at most'}
                </span>
              </>
            ) : (
              <span className="text-ink-2">together</span>
            ),
        },
        {
          key: 'calls',
          head: 'Calls',
          numeric: true,
          cell: ({ line }) => (line?.calls === undefined ? null : formatCount(line.calls)),
        },
        {
          key: 'tokens',
          head: 'Tokens',
          numeric: true,
          cell: ({ line }) => (line?.tokens === undefined ? null : formatCount(line.tokens)),
        },
        {
          key: 'amount',
          head: 'Amount',
          numeric: true,
          nowrap: true,
          cell: ({ line, sum }) =>
            line ? shownMoney(line, currency) : <span className="text-ink-2">{money(sum ?? '0', currency)}</span>,
        },
      ]}
      {...(lines.length > 1
        ? {
            total: {
              project: <span className="whitespace-nowrap">Own usage</span>,
              amount: money(shownSum(lines), currency),
            },
          }
        : {})}
    />
  )
}

type OtherProps = { lines: readonly Line[]; currency: string; caption: string; beside?: boolean }

function OtherTable({ lines, currency, caption, beside = false }: OtherProps) {
  const numbered = lines.map((line, i) => ({ line, key: `${i}` }))
  return (
    <Table
      caption={caption}
      rows={numbered}
      rowKey={({ key }) => key}
      columns={[
        {
          key: 'what',
          head: 'What',
          cell: ({ line }) => <span className={WRAP}>{beside ? besideWords(line) : lineWords(line)}</span>,
        },
        {
          key: 'why',
          head: 'How',
          cell: ({ line }) => <span className="text-ink-2">{beside ? besideWhy(line) : howWords(line)}</span>,
        },
        {
          key: 'amount',
          head: 'Amount',
          numeric: true,
          nowrap: true,
          cell: ({ line }) => (beside ? exactMoney(line.amount, currency) : shownMoney(line, currency)),
        },
      ]}
      {...(!beside && lines.length > 1 ? { total: { what: caption, amount: money(shownSum(lines), currency) } } : {})}
    />
  )
}

/** A part of an invoice goes by what is paid for by use, whatever the statement counts: the bill says so, or a reader reckons in vain. */
const isOfInvoice = (line: Line): boolean => line.kind === 'reconciliation' || line.adjusts === 'reconciliation'

const howWords = (line: Line): string =>
  [
    line.rule,
    isOfInvoice(line) && line.rule?.startsWith('in proportion') && 'as far as the provider bills it by use',
    line.kind === 'bound' && 'no price: at most',
  ]
    .filter(Boolean)
    .join(', ') || (line.kind === 'adjustment' ? 'the month as it is now, less what was billed' : '')

const besideWords = (line: Line): string =>
  [lineWords({ ...line, month: undefined }), line.project === undefined && line.of === undefined ? 'no project' : '']
    .filter(word => word !== '')
    .join(', ')

const besideWhy = ({ kind, rule, calls }: Line): string =>
  [
    kind === 'bound' ? 'no price: at most' : 'nobody knows whether a plan covers it',
    rule,
    calls !== undefined && `${formatCount(calls)} calls`,
  ]
    .filter(Boolean)
    .join(', ')

function TotalCard({ bill, parts }: { bill: Bill; parts: readonly Line[][] }) {
  const { currency } = bill
  const names = ['Own usage', 'Allocated', 'Invoice difference', 'Earlier months']
  const some = parts.flatMap((lines, i) => (lines.length === 0 ? [] : [{ name: names[i]!, sum: shownSum(lines) }]))
  return (
    <section className="rounded-lg border bg-panel" aria-label="Total">
      {some.length > 1 && (
        <dl>
          {some.map(({ name, sum }) => (
            <div key={name} className="flex justify-between gap-4 border-b px-4 py-2">
              <dt className="text-ink-2">{name}</dt>
              <dd className="tabular-nums">{money(sum, currency)}</dd>
            </div>
          ))}
        </dl>
      )}
      <dl className="flex flex-wrap items-baseline justify-between gap-x-4 px-4 py-3">
        <dt className="font-semibold text-lg">Total</dt>
        <dd className="font-semibold text-2xl tabular-nums tracking-[-0.02em]">{money(bill.total, currency)}</dd>
      </dl>
      {(!isNothing(bill.atMost) || !isNothing(bill.unknown) || !isNothing(bill.carried)) && (
        <p className="border-t px-4 py-2 text-ink-2 text-sm">
          {[
            !isNothing(bill.atMost) && `unpriced, at most ${exactMoney(bill.atMost, currency)}`,
            !isNothing(bill.unknown) && `cover unknown: ${exactMoney(bill.unknown, currency)}`,
            !isNothing(bill.carried) && `${exactMoney(bill.carried, currency)} goes to the next month as a credit`,
          ]
            .filter(Boolean)
            .join('; ')}
        </p>
      )}
    </section>
  )
}

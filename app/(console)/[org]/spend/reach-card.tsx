import Link from 'next/link'
import { Card } from '#app/_ui/card.tsx'
import { formatCount, formatPlural } from '#app/_ui/format.ts'
import { KeyValue, type KeyValueItem } from '#app/_ui/key-value.tsx'
import { Time } from '#app/_ui/time.tsx'
import { parseDecimal } from '#core/decimal.ts'
import { moneyText } from '#core/spend/round.ts'
import { figureOfShown, type Report, readTotal } from './figures.ts'

/** How far the figures reach, and what about them is worth knowing before somebody is billed by them. */
type Props = {
  org: string
  report: Report
  /** The same usage by what covers it and who says so. */
  byCover: Report
  /** The page by that key. */
  coverPath: string
  className?: string
}

export function ReachCard({ org, report, byCover, coverPath, className }: Props) {
  const { coverage, total, basis, zone, currency, rates } = report
  const money = (pico: bigint) => moneyText(pico, { currency })
  const { atMost, unknown, unknownAtMost } = figureOfShown(total, basis)
  const { priced } = readTotal(total)
  const items: KeyValueItem[] = [
    {
      key: 'Source',
      value: 'Self-reported: each machine counts the calls of its own agents. Prices are this control plane’s.',
    },
    {
      key: 'Machines',
      value: (
        <>
          {coverage.reporting} of {formatPlural(coverage.machines, 'machine')} reported within two hours.{' '}
          {coverage.reporting < coverage.machines && (
            <>
              What the others have spent since is in no figure;{' '}
              <Link className="link" href={`/${org}/machines`}>
                see which
              </Link>
              .
            </>
          )}
        </>
      ),
    },
    { key: 'Last upload', value: coverage.lastAt ? <Time at={coverage.lastAt} /> : 'none yet' },
    { key: 'Clock', value: `Days begin and end by ${zone}.` },
  ]
  if (rates.length > 0)
    items.push({
      key: 'Currency',
      value: (
        <>
          {currency}, converted from US dollars day by day: {ratesWords(rates)}.{' '}
          <Link className="link" href={`/${org}/spend/currency`}>
            Exchange rates
          </Link>
        </>
      ),
    })
  if (basis === 'equivalent')
    items.push({
      key: 'What covers it',
      value: `Metered ${money(priced.metered)}, under a flat plan ${money(priced.plan)}, unknown ${money(priced.unknown)}: all at list price.`,
    })
  else {
    items.push({
      key: 'Under a flat plan',
      value: `${money(priced.plan)} at list price, and nothing of it is billed by use.`,
    })
    if (unknown > 0n || unknownAtMost > 0n)
      items.push({
        key: 'Cover unknown',
        value: `${money(unknown + unknownAtMost)} that may or may not be billed, in no total. Say with covered: in the rule set whether a plan covers it.`,
      })
  }
  const saidBy = whoSays(byCover)
  if (saidBy.length > 0)
    items.push({
      key: 'Who says so',
      value: (
        <>
          {saidBy.map(({ words, pico }) => `${money(pico)} ${words}`).join(', ')}: at list price.{' '}
          <Link className="link" href={coverPath}>
            By cover
          </Link>
        </>
      ),
    })
  if (atMost > 0n)
    items.push({
      key: 'Unpriced',
      value: (
        <>
          At most {money(atMost)}, in no total: {formatPlural(total.rates.fallback, 'call')} of models without a price,
          counted at the dearest one.{' '}
          <Link className="link" href={`/${org}/spend/rates`}>
            Give them a price
          </Link>
        </>
      ),
    })
  const others = [
    total.rates.override > 0 && `${formatCount(total.rates.override)} at your own prices`,
    total.rates.substitute > 0 && `${formatCount(total.rates.substitute)} as another model`,
    total.rates.zero > 0 && `${formatCount(total.rates.zero)} at nothing`,
  ].filter(Boolean)
  if (others.length > 0) items.push({ key: 'Calls by price', value: `${others.join(', ')}; the rest at list price.` })
  if (total.partial > 0)
    items.push({
      key: 'Broken off',
      value: `${formatPlural(total.partial, 'call')} ended early; what was counted until then is in the figures.`,
    })
  if (coverage.differing.days > 0) {
    const { days, machineCost, cost } = coverage.differing
    items.push({
      key: 'Priced differently',
      value: `On ${formatPlural(days, 'day')} of a machine its own prices came to ${money(parseDecimal(machineCost) ?? 0n)} and ours to ${money(parseDecimal(cost) ?? 0n)}; ours count.`,
    })
  }
  if (coverage.quarantined > 0)
    items.push({
      key: 'Kept apart',
      value: `${formatPlural(coverage.quarantined, 'day')} of a machine whose clock is ahead; counted once that time has come.`,
    })
  return (
    <Card title="How far these figures reach" className={className}>
      <KeyValue items={items} />
    </Card>
  )
}

/** By whose word usage is paid for or covered, as far as anybody says; nothing where all of it is read. */
function whoSays({ rows }: Report): { words: string; pico: bigint }[] {
  const ends: readonly [string, (by: string | undefined, covered: string) => boolean][] = [
    ['read from records and sign-ins', (by, covered) => by === undefined && covered !== 'unknown'],
    ['declared by the organisation', by => by === 'organisation'],
    ['declared by machines themselves', by => by === 'machine'],
  ]
  const said = ends.map(([words, fits]) => ({
    words,
    pico: rows
      .filter(({ value }) => fits((value ?? '').split('/')[1], (value ?? '').split('/')[0]!))
      .reduce((sum, { total }) => sum + figureOfShown(total, 'equivalent').amount, 0n),
  }))
  return said.slice(1).some(({ pico }) => pico > 0n) ? said.filter(({ pico }) => pico > 0n) : []
}

/** `0.92 from 2026-10-01, then 0.95 from 2026-11-10`; of many the first and the last. */
function ratesWords(rates: Report['rates']): string {
  const words = ({ from, perUsd }: Report['rates'][number]) => `${perUsd} from ${from}`
  if (rates.length <= 3) return rates.map(words).join(', then ')
  return `${words(rates[0]!)}, ${formatPlural(rates.length - 2, 'change')}, then ${words(rates.at(-1)!)}`
}

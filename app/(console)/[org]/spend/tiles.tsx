import { formatCount, formatPercent } from '#app/_ui/format.ts'
import { StatTile, StatTiles } from '#app/_ui/stat-tile.tsx'
import { Time } from '#app/_ui/time.tsx'
import { moneyText } from '#core/spend/round.ts'
import { noneName, type SpendAsked } from './asked.ts'
import { figureOfShown, isComparable, type Report, shareTenths, shownAmount } from './figures.ts'

type Props = {
  org: string
  asked: SpendAsked
  report: Report
  earlier: Report
  before: { soFar: boolean }
  when: string
  beforeWords: string
}

/** The figures that one looks for first. */
export function Tiles({ org, asked, report, earlier, before, when, beforeWords }: Props) {
  const total = figureOfShown(report.total, asked.basis)
  const was = figureOfShown(earlier.total, asked.basis).amount
  const none = report.rows.find(({ value }) => value === null)
  const isTag = asked.by.startsWith('tag:')
  const noneAmount = none ? figureOfShown(none.total, asked.basis).amount : 0n
  const [noneShare] = shareTenths([noneAmount, total.amount - noneAmount])
  const shownNone = shownAmount(report, null)
  const { coverage, currency } = report
  const money = (pico: bigint) => moneyText(pico, { currency })
  const beside = [
    total.atMost > 0n && `and ${money(total.atMost)} unpriced at most`,
    total.unknown + total.unknownAtMost > 0n && `${money(total.unknown + total.unknownAtMost)} of unknown cover`,
  ].filter(Boolean)
  return (
    <StatTiles count={4}>
      <StatTile
        label={`${when}${before.soFar ? ' so far' : ''}`}
        value={money(total.amount)}
        {...(total.atMost > 0n && { href: `/${org}/spend/rates` })}
        note={beside.length > 0 ? beside.join(', ') : 'all of it at known prices'}
      />
      <StatTile
        label={`Against ${beforeWords}`}
        value={!isComparable(earlier, report) ? 'no rate' : was > 0n ? changeText(was, total.amount) : 'nothing then'}
        note={
          !isComparable(earlier, report)
            ? 'for some days of one of the two, so they do not compare'
            : was > 0n
              ? `${money(was)} then`
              : 'so there is no share to tell'
        }
      />
      {isTag ? (
        <StatTile
          label={noneName(asked.by).replace(/^u/, 'U')}
          value={formatPercent((noneShare ?? 0) / 1000)}
          note={
            shownNone && noneAmount > 0n
              ? moneyText(shownNone.amount, { currency, places: shownNone.places, exact: noneAmount })
              : 'every call has one'
          }
        />
      ) : (
        <StatTile label="Calls" value={formatCount(report.total.calls)} note="counted once each" />
      )}
      <StatTile
        label="Machines that reported"
        href={`/${org}/machines`}
        value={coverage.machines === 0 ? 'none' : `${coverage.reporting} of ${coverage.machines}`}
        note={
          coverage.lastAt ? (
            <>
              last upload <Time at={coverage.lastAt} show="relative" />
            </>
          ) : (
            'no upload yet'
          )
        }
      />
    </StatTiles>
  )
}

/** `+12.3 %` of what it was. */
function changeText(was: bigint, is: bigint): string {
  const tenths = ((is - was) * 1000n) / was
  return `${tenths > 0n ? '+' : ''}${formatPercent(Number(tenths) / 1000)}`
}

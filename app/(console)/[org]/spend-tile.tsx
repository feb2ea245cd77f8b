import { formatPercent } from '#app/_ui/format.ts'
import { Name } from '#app/_ui/name.tsx'
import { StatTile } from '#app/_ui/stat-tile.tsx'
import { moneyText } from '#core/spend/round.ts'
import { figureOfShown, type Report } from './spend/figures.ts'

type Props = { org: string; report: Report; fullest: { name: string; usedPct: number } | 'not_counted' | null }

/** What was spent this month, and the budget of which the largest part is used. */
export function SpendTile({ org, report, fullest }: Props) {
  const { amount, atMost } = figureOfShown(report.total, 'equivalent')
  return (
    <StatTile
      label="Spend this month, list price"
      value={moneyText(amount, { currency: report.currency })}
      href={`/${org}/spend`}
      note={
        fullest === 'not_counted' || (fullest && report.total.calls === 0 && fullest.usedPct === 0) ? (
          'no budget was counted yet'
        ) : fullest ? (
          <>
            <Name className="max-w-24">{fullest.name}</Name> {formatPercent(fullest.usedPct / 100)} used
          </>
        ) : atMost > 0n ? (
          `and ${moneyText(atMost, { currency: report.currency })} unpriced at most`
        ) : report.total.calls > 0 ? (
          'no budget is set'
        ) : (
          'no usage was sent yet'
        )
      }
    />
  )
}

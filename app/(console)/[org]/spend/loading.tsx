import { Skeleton, SkeletonRows, SkeletonTile } from '#app/_ui/skeleton.tsx'
import { StatTiles } from '#app/_ui/stat-tile.tsx'

/** About as wide as their words. */
const TAB_WIDTHS = {
  chargeback: 'w-20',
  budgets: 'w-14',
  statements: 'w-20',
  invoices: 'w-16',
  rates: 'w-12',
  currency: 'w-16',
  attribution: 'w-20',
}

/** The shape of a page of spend while its sums are made. */
export default function Loading() {
  return (
    <>
      <h1 className="sr-only">The figures are loading</h1>
      <div className="mb-5 grid gap-2.5 pt-1.5">
        <Skeleton className="h-4.5 w-28" />
        <Skeleton className="w-full max-w-xl" />
      </div>
      <div className="mb-4 flex gap-5 overflow-hidden border-b pb-2.5">
        {Object.entries(TAB_WIDTHS).map(([tab, width]) => (
          <Skeleton key={tab} className={`${width} shrink-0`} />
        ))}
      </div>
      <div className="grid gap-4">
        <StatTiles count={4}>
          {['total', 'change', 'none', 'machines'].map(tile => (
            <SkeletonTile key={tile} />
          ))}
        </StatTiles>
        <div className="rounded-lg border bg-panel">
          <SkeletonRows rows={7} label="Loading" />
        </div>
      </div>
    </>
  )
}

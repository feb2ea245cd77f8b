import { Skeleton, SkeletonRows, SkeletonTile } from '#app/_ui/skeleton.tsx'
import { StatTiles } from '#app/_ui/stat-tile.tsx'

/** The shape of a page of spend while its sums are made. */
export default function Loading() {
  return (
    <>
      <h1 className="sr-only">The figures are loading</h1>
      <div className="mb-5 grid gap-2.5 pt-1.5">
        <Skeleton className="h-4.5 w-28" />
        <Skeleton className="w-full max-w-xl" />
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

import { cn } from './class-names.ts'

/** A grey bar that keeps the place of a line of text; give width and height by class. */
export function Skeleton({ className }: { className?: string }) {
  return (
    <span
      aria-hidden
      className={cn('block h-3 w-full animate-breathe rounded-sm bg-line motion-reduce:animate-none', className)}
    />
  )
}

/** Rows of the height that Table's rows have, so that nothing moves when they arrive. */
export function SkeletonRows({ rows = 5, label = 'Loading' }: { rows?: number; label?: string }) {
  return (
    <div role="status" aria-busy="true">
      <span className="sr-only">{label}</span>
      {Array.from({ length: rows }, (_, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: placeholders have no identity
        <div key={row} className="flex h-9.75 items-center gap-8 border-b px-4 last:border-b-0">
          <Skeleton className="w-1/4" />
          <Skeleton className="w-1/3" />
          <Skeleton className="ml-auto w-16" />
        </div>
      ))}
    </div>
  )
}

/** The shape of a StatTile. */
export function SkeletonTile() {
  return (
    <div className="rounded-lg border bg-panel px-4 py-3.5">
      <Skeleton className="my-0.75 w-20" />
      <Skeleton className="my-1.5 h-4 w-28" />
      <Skeleton className="mt-1.25 mb-0.75 w-32" />
    </div>
  )
}

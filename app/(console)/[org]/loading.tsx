import { Skeleton, SkeletonRows } from '#app/_ui/skeleton.tsx'

/** The shape of a page while its data comes. */
export default function Loading() {
  return (
    <>
      <h1 className="sr-only">The page is loading</h1>
      <div className="mb-5 grid gap-2.5 pt-1.5">
        <Skeleton className="h-4.5 w-40" />
        <Skeleton className="w-full max-w-xl" />
      </div>
      <div className="rounded-lg border bg-panel">
        <SkeletonRows rows={6} label="Loading" />
      </div>
    </>
  )
}

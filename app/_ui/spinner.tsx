import { LoaderCircle } from 'lucide-react'
import { cn } from './class-names.ts'

/** A turning mark for work in progress; the words beside it carry the meaning. */
export function Spinner({ className }: { className?: string }) {
  return <LoaderCircle aria-hidden className={cn('size-4 animate-spin', className)} />
}

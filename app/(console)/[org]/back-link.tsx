import { ChevronLeft } from 'lucide-react'
import Link from 'next/link'

/** The way back from a page that belongs to another. */
export function BackLink({ href, children }: { href: string; children: string }) {
  return (
    <Link href={href} className="-ml-1 flex items-center gap-1 hover:text-ink">
      <ChevronLeft aria-hidden className="size-3.5" />
      {children}
    </Link>
  )
}

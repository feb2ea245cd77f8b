import { ChevronLeft, ChevronRight } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button } from './button.tsx'

type Props = {
  label: string
  /** Addresses of the neighbours; absent at an end. */
  previousHref?: string
  nextHref?: string
  /** "1–50 of 214" or "Page 2". */
  children?: ReactNode
}

/** Steps through a long list by links. */
export function Pager({ label, previousHref, nextHref, children }: Props) {
  return (
    <nav aria-label={label} className="flex items-center gap-2 px-4 py-2 text-ink-3 text-xs">
      <span className="mr-auto">{children}</span>
      <Step href={previousHref} icon={<ChevronLeft aria-hidden />} text="Previous" rel="prev" />
      <Step href={nextHref} icon={<ChevronRight aria-hidden />} text="Next" rel="next" />
    </nav>
  )
}

function Step({ href, icon, text, rel }: { href?: string; icon: ReactNode; text: string; rel: string }) {
  return href ? (
    <Button href={href} rel={rel} size="sm" icon={icon}>
      {text}
    </Button>
  ) : (
    <Button disabled size="sm" icon={icon}>
      {text}
    </Button>
  )
}

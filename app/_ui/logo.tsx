import { cn } from './class-names.ts'

/** The mark: strokes that stop at a point. Decorative; where it stands alone, put the name beside it for screen readers. */
export function LogoMark({ className }: { className?: string }) {
  return (
    <svg
      viewBox="0 0 20 20"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.8"
      strokeLinecap="round"
      className={cn('size-5 shrink-0', className)}
      aria-hidden="true"
    >
      <path d="M2.5 10h4.4M13.1 10h4.4M10 2.5v3M10 14.5v3" />
      <circle cx="10" cy="10" r="2.5" className="fill-accent stroke-accent" />
    </svg>
  )
}

/** Mark and name. */
export function Logo({ className }: { className?: string }) {
  return (
    <span className={cn('inline-flex items-center gap-2 font-semibold tracking-[-0.01em]', className)}>
      <LogoMark />
      Holdpoint
    </span>
  )
}

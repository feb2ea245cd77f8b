import Link from 'next/link'
import { cn } from '#app/_ui/class-names.ts'
import { Name } from '#app/_ui/name.tsx'

type Props = { label: string; items: readonly { href: string; label: string; current: boolean }[] }

/** One of a few ways to see the same figures, each with an address of its own. */
export function LinkSegments({ label, items }: Props) {
  return (
    <nav aria-label={label} className="min-w-0">
      <ul className="flex flex-wrap gap-1">
        {items.map(({ href, label: words, current }) => (
          <li key={href} className="min-w-0">
            <Link
              href={href}
              scroll={false}
              aria-current={current ? 'true' : undefined}
              className={cn(
                'flex min-h-7.5 items-center rounded-md border border-line-strong bg-panel px-2.5 text-ink-2 text-xs hover:text-ink pointer-coarse:min-h-10',
                current &&
                  'border-accent bg-accent-soft font-semibold text-accent hover:text-accent forced-colors:underline',
              )}
            >
              <Name className="max-w-48">{words}</Name>
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  )
}

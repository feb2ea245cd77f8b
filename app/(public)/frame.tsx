import type { ReactNode } from 'react'
import { cn } from '#app/_ui/class-names.ts'
import { Logo } from '#app/_ui/logo.tsx'

type Props = {
  title: ReactNode
  /** One or two sentences: what this page is and what will happen. */
  sub?: ReactNode
  /** Stands over the panel: why somebody was led here. */
  notice?: ReactNode
  /** Small words beneath the panel. */
  below?: ReactNode
  wide?: boolean
  children?: ReactNode
}

/** The frame of a page that belongs to no organisation: the mark, one panel, one thing to do. */
export function Frame({ title, sub, notice, below, wide, children }: Props) {
  return (
    <main
      className={cn(
        'mx-auto grid min-h-dvh w-full grid-cols-[minmax(0,1fr)] content-start gap-5 px-4 pt-8 pb-10 sm:pt-[14vh]',
        wide ? 'max-w-3xl sm:pt-12' : 'max-w-110',
      )}
    >
      <Logo className="px-1 text-lg" />
      {notice && <div className="grid gap-2 empty:hidden">{notice}</div>}
      <section className="grid grid-cols-[minmax(0,1fr)] gap-5 rounded-lg border bg-panel p-5 sm:p-6">
        <header className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-1">
          <h1 className="text-xl tracking-[-0.015em]">{title}</h1>
          {sub && <div className="text-pretty text-ink-2">{sub}</div>}
        </header>
        {children}
      </section>
      {below && <div className="grid grid-cols-[minmax(0,1fr)] gap-1.5 px-1 text-ink-3 text-sm">{below}</div>}
    </main>
  )
}

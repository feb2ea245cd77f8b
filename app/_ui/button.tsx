import { cva, type VariantProps } from 'class-variance-authority'
import Link from 'next/link'
import type { ComponentProps, ReactNode } from 'react'
import { cn } from './class-names.ts'
import { Spinner } from './spinner.tsx'

export const buttonLook = cva(
  [
    'relative inline-flex shrink-0 items-center justify-center gap-2 whitespace-nowrap rounded-md border font-medium',
    'transition-colors duration-100 select-none [&_svg]:size-4 [&_svg]:shrink-0',
    'disabled:opacity-50 aria-disabled:opacity-50 aria-busy:opacity-100 data-[state=open]:bg-raised',
  ],
  {
    variants: {
      variant: {
        primary:
          'border-accent bg-accent text-accent-ink enabled:hover:border-accent-hover enabled:hover:bg-accent-hover [a&]:hover:bg-accent-hover data-[state=open]:bg-accent-hover',
        secondary: 'border-line-strong bg-panel text-ink enabled:hover:bg-raised [a&]:hover:bg-raised',
        danger:
          'border-line-strong bg-panel text-held enabled:hover:border-held enabled:hover:bg-held-soft [a&]:hover:bg-held-soft',
        'danger-solid': 'border-held bg-held text-held-ink enabled:hover:border-held-hover enabled:hover:bg-held-hover',
        ghost:
          'border-transparent bg-transparent text-ink-2 enabled:hover:bg-raised enabled:hover:text-ink [a&]:hover:bg-raised [a&]:hover:text-ink',
      },
      size: {
        sm: 'min-h-7 px-2.5 text-sm pointer-coarse:min-h-9',
        md: 'min-h-8 px-3 pointer-coarse:min-h-10',
        lg: 'min-h-10 px-4 text-base',
      },
    },
    defaultVariants: { variant: 'secondary', size: 'md' },
  },
)

type Look = VariantProps<typeof buttonLook>
type Shared = Look & { icon?: ReactNode; children?: ReactNode; className?: string }
type AsButton = Shared & { loading?: boolean; href?: undefined } & Omit<
    ComponentProps<'button'>,
    'children' | 'className'
  >
type AsLink = Shared & { href: string } & Omit<ComponentProps<typeof Link>, 'children' | 'className' | 'href'>

/**
 * A button, or with `href` a link that looks like one. `loading` keeps the width, says busy and ignores clicks.
 * A plain button is `type="button"`; say `type="submit"` in forms.
 */
export function Button(props: AsButton | AsLink) {
  if (props.href !== undefined) {
    const { variant, size, icon, className, children, ...rest } = props
    return (
      <Link {...rest} className={cn(buttonLook({ variant, size }), className)}>
        {icon}
        {children}
      </Link>
    )
  }
  const { variant, size, icon, className, children, loading = false, href: _, ...rest } = props
  return (
    <button
      type="button"
      {...rest}
      disabled={rest.disabled || loading}
      aria-busy={loading || undefined}
      className={cn(buttonLook({ variant, size }), className)}
    >
      <span className={cn('inline-flex items-center gap-2', loading && 'opacity-0')}>
        {icon}
        {children}
      </span>
      {loading && (
        <span className="absolute inset-0 grid place-items-center">
          <Spinner />
          <span className="sr-only">, working</span>
        </span>
      )}
    </button>
  )
}

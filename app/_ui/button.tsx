'use client'

import type { VariantProps } from 'class-variance-authority'
import Link from 'next/link'
import type { ComponentProps, MouseEvent, ReactNode } from 'react'
import { buttonLook } from './button-look.ts'
import { cn } from './class-names.ts'
import { Spinner } from './spinner.tsx'

type Look = VariantProps<typeof buttonLook>
type Shared = Look & { icon?: ReactNode; children?: ReactNode; className?: string }
type AsButton = Shared & { loading?: boolean; href?: undefined } & Omit<
    ComponentProps<'button'>,
    'children' | 'className'
  >
type AsLink = Shared & { href: string } & Omit<ComponentProps<typeof Link>, 'children' | 'className' | 'href'>

const ignore = (event: MouseEvent) => event.preventDefault()

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
      // Not `disabled` while loading: that would throw the focus away.
      aria-disabled={loading || undefined}
      aria-busy={loading || undefined}
      onClick={loading ? ignore : rest.onClick}
      className={cn(buttonLook({ variant, size }), className)}
    >
      <span className={cn('inline-flex min-w-0 max-w-full items-center gap-2', loading && 'opacity-0')}>
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

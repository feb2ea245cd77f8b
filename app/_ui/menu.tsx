'use client'

import { Check } from 'lucide-react'
import Link from 'next/link'
import { DropdownMenu as Radix } from 'radix-ui'
import type { ReactNode } from 'react'
import { cn } from './class-names.ts'

const ITEM =
  'flex min-h-8 w-full select-none items-center gap-2.5 rounded-sm px-2 outline-0 data-highlighted:bg-raised data-disabled:opacity-50 pointer-coarse:min-h-10 [&_svg]:size-4 [&_svg]:shrink-0 [&_svg]:text-ink-3'

type MenuProps = {
  trigger: ReactNode
  label: string
  align?: 'start' | 'end'
  side?: 'top' | 'bottom'
  children: ReactNode
  className?: string
}

/** A menu of acts or places. Not modal: Radix's scroll lock would write a style element, which the CSP forbids. */
export function Menu({ trigger, label, align = 'end', side = 'bottom', children, className }: MenuProps) {
  return (
    <Radix.Root modal={false}>
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          aria-label={label}
          align={align}
          side={side}
          sideOffset={4}
          collisionPadding={8}
          className={cn('z-50 min-w-48 max-w-80 animate-appear rounded-lg border bg-panel p-1 shadow-float', className)}
        >
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}

type ItemProps = {
  icon?: ReactNode
  danger?: boolean
  disabled?: boolean
  current?: boolean
  href?: string
  onSelect?: () => void
  children: ReactNode
}

/** An act (`onSelect`) or a place (`href`). */
export function MenuItem({ icon, danger, disabled, current, href, onSelect, children }: ItemProps) {
  const look = cn(ITEM, danger && 'text-held data-highlighted:bg-held-soft [&_svg]:text-held')
  const body = (
    <>
      {icon}
      <span className="min-w-0 flex-1 truncate">{children}</span>
      {current && <Check aria-hidden className="text-accent!" />}
    </>
  )
  return (
    <Radix.Item asChild={href !== undefined} disabled={disabled} onSelect={onSelect} className={look}>
      {href === undefined ? (
        body
      ) : (
        <Link href={href} aria-current={current || undefined}>
          {body}
        </Link>
      )}
    </Radix.Item>
  )
}

type ChoiceProps<V extends string> = {
  label: string
  value: V
  onChange: (value: V) => void
  choices: readonly { value: V; label: string; icon?: ReactNode }[]
}

/** One of a few settings inside a menu; the menu stays open. */
export function MenuChoice<V extends string>({ label, value, onChange, choices }: ChoiceProps<V>) {
  return (
    <>
      <MenuLabel>{label}</MenuLabel>
      <Radix.RadioGroup value={value} onValueChange={next => onChange(next as V)} aria-label={label}>
        {choices.map(choice => (
          <Radix.RadioItem
            key={choice.value}
            value={choice.value}
            onSelect={event => event.preventDefault()}
            className={ITEM}
          >
            {choice.icon}
            <span className="flex-1">{choice.label}</span>
            <Radix.ItemIndicator>
              <Check aria-hidden className="text-accent!" />
            </Radix.ItemIndicator>
          </Radix.RadioItem>
        ))}
      </Radix.RadioGroup>
    </>
  )
}

/** Small grey words over a group. */
export function MenuLabel({ children }: { children: ReactNode }) {
  return <Radix.Label className="px-2 py-1.5 text-ink-3 text-xs">{children}</Radix.Label>
}

/** A rule between groups. */
export function MenuSeparator() {
  return <Radix.Separator className="-mx-1 my-1 h-px bg-line" />
}

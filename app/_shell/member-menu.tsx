'use client'

import { ChevronsUpDown, LogOut } from 'lucide-react'
import { Menu, MenuChoice, MenuItem, MenuSeparator } from '#app/_ui/menu.tsx'
import { Name } from '#app/_ui/name.tsx'
import { THEME_CHOICES, useTheme } from '#app/_ui/theme-choice.tsx'
import { postForm } from './post-form.ts'

/** `role` and `method` in words; the method completes "Signed in with …": "an e-mail code". */
export type ShellMember = { name: string; email: string; role: string; method: string }

/** Who is signed in, with which role and how; theme; the way out. */
export function MemberMenu({ member, side = 'top' }: { member: ShellMember; side?: 'top' | 'bottom' }) {
  const [theme, setTheme] = useTheme()
  return (
    <Menu
      label="You"
      align="start"
      side={side}
      className="w-64"
      trigger={
        <button
          type="button"
          className="flex min-h-11 w-full min-w-0 items-center gap-2.5 rounded-md px-2 py-1 text-left hover:bg-raised data-[state=open]:bg-raised"
        >
          <Initials name={member.name} />
          <span className="grid min-w-0 leading-4">
            <Name className="font-medium">{member.name}</Name>
            <span className="truncate text-ink-3 text-xs">{member.role}</span>
          </span>
          <span className="sr-only">, your account</span>
          <ChevronsUpDown aria-hidden className="ml-auto size-3.5 shrink-0 text-ink-3" />
        </button>
      }
    >
      <div className="grid gap-0.5 px-2 py-1.5">
        <Name className="font-medium">{member.name}</Name>
        <Name className="text-ink-2 text-sm">{member.email}</Name>
        <span className="text-ink-3 text-xs">
          Role: {member.role}. Signed in with {member.method}.
        </span>
      </div>
      <MenuSeparator />
      <MenuChoice label="Theme" value={theme} onChange={setTheme} choices={THEME_CHOICES} />
      <MenuSeparator />
      <MenuItem icon={<LogOut aria-hidden />} onSelect={() => postForm('/auth/sign-out')}>
        Sign out
      </MenuItem>
    </Menu>
  )
}

function Initials({ name }: { name: string }) {
  const letters = name
    .split(/[\s.-]+/)
    .filter(Boolean)
    .map(word => [...word][0])
  const shown = letters.length > 1 ? `${letters[0]}${letters.at(-1)}` : (letters[0] ?? '?')
  return (
    <span
      aria-hidden
      className="grid size-7 shrink-0 place-items-center rounded-full border border-line-strong bg-raised font-medium text-ink-2 text-xs uppercase"
    >
      {shown}
    </span>
  )
}

'use client'

import { ChevronsUpDown } from 'lucide-react'
import { LogoMark } from '#app/_ui/logo.tsx'
import { Menu, MenuItem, MenuLabel } from '#app/_ui/menu.tsx'
import { Name } from '#app/_ui/name.tsx'
import { postForm } from './post-form.ts'

export type Organisation = { slug: string; name: string }
type Props = { org: Organisation; organisations: readonly Organisation[] }

/** Mark, product and organisation; a menu where there is more than one organisation. */
export function OrganisationSwitch({ org, organisations }: Props) {
  const brand = (
    <>
      <LogoMark />
      <span className="grid min-w-0 leading-4">
        <span className="font-semibold tracking-[-0.01em]">Holdpoint</span>
        <Name className="text-ink-3 text-xs">{org.name}</Name>
      </span>
    </>
  )
  if (organisations.length < 2) return <div className="flex min-h-11 min-w-0 items-center gap-2.5 px-2">{brand}</div>
  return (
    <Menu
      label="Organisations"
      align="start"
      trigger={
        <button
          type="button"
          className="flex min-h-11 w-full min-w-0 items-center gap-2.5 rounded-md px-2 text-left hover:bg-raised data-[state=open]:bg-raised"
        >
          {brand}
          <span className="sr-only">, change organisation</span>
          <ChevronsUpDown aria-hidden className="ml-auto size-3.5 shrink-0 text-ink-3" />
        </button>
      }
    >
      <MenuLabel>Organisations you belong to</MenuLabel>
      {organisations.map(each => (
        <MenuItem
          key={each.slug}
          current={each.slug === org.slug}
          // A session belongs to one organisation, so changing over is an act and not a link.
          {...(each.slug === org.slug
            ? { href: `/${org.slug}` }
            : { onSelect: () => postForm('/auth/organisation', { org: each.slug }) })}
        >
          <Name>{each.name}</Name>
        </MenuItem>
      ))}
    </Menu>
  )
}

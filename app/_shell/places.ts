export type PlaceKey = 'overview' | 'boundaries' | 'approvals' | 'spend' | 'machines' | 'members' | 'audit' | 'settings'
export type Place = { key: PlaceKey; href: string; label: string; startsGroup?: boolean }

/** The places of one organisation, in the order of the navigation. */
export function placesOf(slug: string): Place[] {
  return [
    { key: 'overview', href: `/${slug}`, label: 'Overview' },
    { key: 'boundaries', href: `/${slug}/boundaries`, label: 'Boundaries' },
    { key: 'approvals', href: `/${slug}/approvals`, label: 'Approvals' },
    { key: 'spend', href: `/${slug}/spend`, label: 'Spend' },
    { key: 'machines', href: `/${slug}/machines`, label: 'Machines', startsGroup: true },
    { key: 'members', href: `/${slug}/members`, label: 'Members' },
    { key: 'audit', href: `/${slug}/audit`, label: 'Audit' },
    { key: 'settings', href: `/${slug}/settings`, label: 'Settings' },
  ]
}

/** The place whose page, or a page beneath it, is shown. The overview only when it is shown itself. */
export function currentPlace(slug: string, pathname: string): PlaceKey | undefined {
  const [overview, ...rest] = placesOf(slug)
  if (pathname === overview?.href) return overview.key
  return rest.find(place => pathname === place.href || pathname.startsWith(`${place.href}/`))?.key
}

/** Whether an address (with or without its query) is of one of the places; unknown addresses beneath them count. */
export const isPlace = (slug: string, address: string): boolean =>
  currentPlace(slug, address.split(/[?#]/, 1)[0]!) !== undefined

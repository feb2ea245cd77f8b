/** What the list is narrowed to, as it stands in the address. */
import { DAY_MS, dayStart, isDay } from '#core/day.ts'
export type AuditFilter = { kind?: string; actor?: string; subject?: string; from?: string; to?: string }

const startOf = (day: string | undefined): Date | undefined =>
  day !== undefined && isDay(day) ? new Date(dayStart(day)) : undefined

/** Whole days of UTC, both ends included: the moment of the first and the moment after the last. A day that is none is left out. */
export function daysBetween({ from, to }: Pick<AuditFilter, 'from' | 'to'>): { from?: Date; to?: Date } {
  const first = startOf(from)
  const last = startOf(to)
  return { ...(first ? { from: first } : {}), ...(last ? { to: new Date(last.getTime() + DAY_MS) } : {}) }
}

/** What the server is asked for. */
export function filterInput({ kind, actor, subject, from, to }: AuditFilter) {
  const cut = (text: string | undefined) => text?.trim().slice(0, 64) || undefined
  const asked = { kind: cut(kind), actor: cut(actor), subject: cut(subject) }
  return {
    ...(Object.fromEntries(Object.entries(asked).filter(([, value]) => value)) as Omit<AuditFilter, 'from' | 'to'>),
    ...daysBetween({ from, to }),
  }
}

/** The same filter for the CSV: moments, as its door takes them. */
export function csvQuery(filter: AuditFilter): Record<string, string> {
  const { from, to, ...rest } = filterInput(filter)
  const asked = { ...rest, from: from?.toISOString(), to: to?.toISOString() }
  return Object.fromEntries(Object.entries(asked).filter((entry): entry is [string, string] => entry[1] !== undefined))
}

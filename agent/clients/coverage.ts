/** Whose calls are counted from their own records, and what is missing of them: told, so that no total is taken for more. */
import { CLIENT_NAMES, CLIENTS, type Client } from '#core/client.ts'
import type { UsageSource } from './usage-source.ts'

/** Clients of which nothing can be read, and why. */
const CLOSED: Partial<Record<Client, string>> = {
  cursor: 'what Cursor records of its calls is not public: nothing of it is counted',
}

const list = (names: readonly string[]) =>
  names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`

/** Whose records are read and whose are not, in clauses for people. */
export function coverageWords(sources: readonly Pick<UsageSource, 'client' | 'title'>[]): string[] {
  const unread = CLIENTS.filter(client => !sources.some(source => source.client === client))
  const later = unread.filter(client => CLOSED[client] === undefined).map(client => CLIENT_NAMES[client])
  return [
    `calls are counted from the records of ${list(sources.map(({ title }) => title))}`,
    ...(later.length > 0 ? [`${list(later)}: not read yet`] : []),
    ...unread.flatMap(client => CLOSED[client] ?? []),
  ]
}

/** What the records of these clients are known to leave out, in clauses for people. */
export const lacksOf = (
  sources: readonly Pick<UsageSource, 'client' | 'lacks'>[],
  clients: ReadonlySet<string>,
): string[] => sources.flatMap(({ client, lacks }) => (lacks !== undefined && clients.has(client) ? [lacks] : []))

import Link from 'next/link'
import { Card } from '#app/_ui/card.tsx'
import { cn } from '#app/_ui/class-names.ts'
import { formatPlural } from '#app/_ui/format.ts'
import { CLIENT_NAMES, type Client } from '#core/client.ts'
import { LevelPill } from '../level-pill.tsx'

/** How many machines have a client at a level. */
export type Binding = { client: string; level: string; machines: number }

/** Where rules hold, as machines have told it: per client, how far it binds. */
export function BindingCard({ org, bindings }: { org: string; bindings: readonly Binding[] }) {
  return (
    <Card title="Where it binds">
      {bindings.length === 0 ? (
        <p className="px-4 py-3 text-ink-2">
          No machine has reported an agent yet.{' '}
          <Link className="link" href={`/${org}/machines`}>
            Add a machine
          </Link>{' '}
          and run <code>holdpoint hooks install</code> on it.
        </p>
      ) : (
        <ul>
          {bindings.map(({ client, level, machines }, at) => (
            <li
              key={`${client}:${level}`}
              className="grid grid-cols-[1fr_auto_6.5rem] items-center gap-3 border-b px-4 py-2.25 last:border-b-0"
            >
              <span className={cn('min-w-0 truncate', bindings[at - 1]?.client === client && 'text-ink-3')}>
                {CLIENT_NAMES[client as Client] ?? client}
              </span>
              <LevelPill level={level} />
              <span className="text-right text-ink-3 text-xs">{formatPlural(machines, 'machine')}</span>
            </li>
          ))}
        </ul>
      )}
    </Card>
  )
}

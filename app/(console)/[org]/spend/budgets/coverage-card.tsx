import Link from 'next/link'
import { Card } from '#app/_ui/card.tsx'
import { formatList, formatPlural } from '#app/_ui/format.ts'
import { CLIENT_NAMES, type Client } from '#core/client.ts'
import { LevelPill } from '../../level-pill.tsx'
import { byReach } from './reach.ts'
import type { BudgetList } from './words.ts'

const NAMED = 5

/** Of how much of the fleet the figures are, and how far a budget can hold an agent there. */
export function CoverageCard({ org, coverage }: { org: string; coverage: BudgetList['coverage'] }) {
  const { machines, reporting, silent, clients } = coverage
  const groups = byReach(clients)
  return (
    <Card title="What these figures are of" sub="self-reported by machines">
      <div className="grid gap-3 px-4 py-3 text-ink-2">
        <p>
          {machines === 0
            ? 'No machine has joined, so nothing is counted.'
            : `${reporting} of ${formatPlural(machines, 'machine')} reported within two hours.`}
          {silent.length > 0 && (
            <>
              {' '}
              What {formatList(silent.slice(0, NAMED).map(({ label }) => label))}
              {silent.length > NAMED && ` and ${silent.length - NAMED} more`} spent since is in no figure yet;{' '}
              <Link className="link" href={`/${org}/machines`}>
                see the machines
              </Link>
              .
            </>
          )}
        </p>
        {groups.length > 0 && (
          <dl className="grid gap-2.5" aria-label="How far a budget holds each client">
            {groups.map(({ title, help, clients: held }) => (
              <div key={title} className="grid gap-1 sm:grid-cols-[11rem_minmax(0,1fr)] sm:gap-4">
                <dt>
                  <span className="font-medium text-ink">{title}</span>
                  <span className="block text-ink-3 text-xs">{help}</span>
                </dt>
                <dd className="flex flex-wrap content-start gap-x-4 gap-y-2">
                  {held.map(({ client, level, machines: count }) => (
                    <span key={`${client} ${level}`} className="flex items-center gap-2">
                      {CLIENT_NAMES[client as Client] ?? client} <LevelPill level={level} /> on{' '}
                      {formatPlural(count, 'machine')}
                    </span>
                  ))}
                </dd>
              </div>
            ))}
          </dl>
        )}
      </div>
    </Card>
  )
}

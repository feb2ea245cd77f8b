import Link from 'next/link'
import { Card } from '#app/_ui/card.tsx'
import { formatList, formatPlural } from '#app/_ui/format.ts'
import { CLIENT_NAMES, type Client } from '#core/client.ts'
import { LevelPill } from '../../level-pill.tsx'
import type { BudgetList } from './words.ts'

const NAMED = 5

/** Of how much of the fleet the figures are, and how far a budget can hold an agent there. */
export function CoverageCard({ org, coverage }: { org: string; coverage: BudgetList['coverage'] }) {
  const { machines, reporting, silent, clients } = coverage
  return (
    <Card title="What these figures are of" sub="self-reported by machines">
      <div className="grid gap-2 px-4 py-3 text-ink-2">
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
        {clients.length > 0 && (
          <ul aria-label="How strictly clients are held" className="flex flex-wrap gap-x-4 gap-y-2">
            {clients.map(({ client, level, machines: count }) => (
              <li key={`${client} ${level}`} className="flex items-center gap-2">
                {CLIENT_NAMES[client as Client] ?? client} <LevelPill level={level} /> on{' '}
                {formatPlural(count, 'machine')}
              </li>
            ))}
          </ul>
        )}
      </div>
    </Card>
  )
}

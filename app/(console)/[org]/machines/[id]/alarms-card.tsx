import { Card } from '#app/_ui/card.tsx'
import { formatCount } from '#app/_ui/format.ts'
import { Time } from '#app/_ui/time.tsx'
import type { MachineDetail } from '../../outputs.ts'
import { alarmWords } from '../machine-words.ts'

/** What the connector raised about itself; nothing where it raised nothing. */
export function AlarmsCard({ machine }: { machine: MachineDetail }) {
  if (machine.alarms.length === 0) return null
  return (
    <Card title="What it raised">
      <ul>
        {machine.alarms.map(alarm => (
          <li
            key={`${alarm.what}${alarm.at.toISOString()}`}
            className="grid grid-cols-[1fr_auto] items-baseline gap-x-3 border-b px-4 py-2.25 last:border-b-0"
          >
            <span className={alarm.serious ? 'min-w-0 font-medium text-held' : 'min-w-0'}>
              {alarmWords(alarm.what)}
              {alarm.count > 1 && ` (${formatCount(alarm.count)} times)`}
            </span>
            <span className="text-ink-3 text-xs">
              <Time at={alarm.at} />
            </span>
          </li>
        ))}
      </ul>
    </Card>
  )
}

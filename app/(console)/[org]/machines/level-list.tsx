import { CLIENT_NAMES, type Client } from '#core/client.ts'
import { LevelPill } from '../level-pill.tsx'
import type { MachineRow } from '../outputs.ts'

/** What binds first; clients without a hook last. */
const ORDER = [
  'broken',
  'managed',
  'managed-hook-user-daemon',
  'user-hook',
  'figure-unread',
  'advice-only',
  'idle',
  'not-installed',
]
const rank = (level: string) => (ORDER.indexOf(level) + ORDER.length + 1) % (ORDER.length + 1)

/** The agent programs of a machine by how far they are bound: one line a level, so that six of them stay readable. */
export function LevelList({ hooks }: { hooks: MachineRow['hooks'] }) {
  const levels = [...new Set(hooks.map(hook => hook.level))].sort((a, b) => rank(a) - rank(b))
  return (
    <ul className="grid gap-1">
      {levels.map(level => (
        <li key={level} className="flex flex-wrap items-center gap-x-2 gap-y-0.5 @max-[35rem]:justify-end">
          <LevelPill level={level} />
          <span className={level === 'not-installed' ? 'text-ink-3 text-xs' : 'text-sm'}>
            {hooks
              .filter(hook => hook.level === level)
              .map(hook => CLIENT_NAMES[hook.client as Client] ?? hook.client)
              .join(', ')}
          </span>
        </li>
      ))}
    </ul>
  )
}

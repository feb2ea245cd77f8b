import { Card } from '#app/_ui/card.tsx'
import { CLIENT_NAMES, type Client } from '#core/client.ts'
import { LevelPill } from '../../level-pill.tsx'
import { LEVEL_WORDS } from '../../level-words.ts'
import type { MachineDetail } from '../../outputs.ts'
import { switchedOffWords } from '../machine-words.ts'

/** The agent programs on a machine, and how far each is bound. */
export function AgentsCard({ machine }: { machine: MachineDetail }) {
  return (
    <Card title="Agents on it" sub="how far each is bound, as the machine proved it">
      {machine.hooks.length === 0 ? (
        <p className="px-4 py-3 text-ink-2">
          No agent is wired. On the machine, run <code>holdpoint hooks install</code>.
        </p>
      ) : (
        <ul>
          {machine.hooks.map(hook => (
            <li key={hook.client} className="grid gap-1 border-b px-4 py-3 last:border-b-0">
              <div className="flex flex-wrap items-center gap-2">
                <span className="font-medium">{CLIENT_NAMES[hook.client as Client] ?? hook.client}</span>
                {hook.version && <span className="text-ink-3 text-xs">{hook.version}</span>}
                <span className="ml-auto">
                  <LevelPill level={hook.level} />
                </span>
              </div>
              <p className="text-ink-2 text-sm">{LEVEL_WORDS[hook.level]?.help}</p>
              {hook.off.length > 0 && (
                <p className="text-sm text-waiting">To know: {hook.off.map(switchedOffWords).join('; ')}.</p>
              )}
            </li>
          ))}
        </ul>
      )}
    </Card>
  )
}

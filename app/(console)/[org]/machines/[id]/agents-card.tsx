import { Card } from '#app/_ui/card.tsx'
import { Time } from '#app/_ui/time.tsx'
import { CLIENT_NAMES, type Client } from '#core/client.ts'
import { CLIENT_LIMITS } from '#core/client-limits.ts'
import { switchedOffWords } from '#core/level-words.ts'
import { LevelPill } from '../../level-pill.tsx'
import { LEVEL_WORDS } from '../../level-words.ts'
import type { MachineDetail } from '../../outputs.ts'

type Hook = MachineDetail['hooks'][number]

const nameOf = (client: string) => CLIENT_NAMES[client as Client] ?? client

/** The agent programs on a machine, and how far each is bound. */
export function AgentsCard({ machine }: { machine: MachineDetail }) {
  const wired = machine.hooks.filter(hook => hook.level !== 'not-installed' || hook.lost)
  const others = machine.hooks.filter(hook => !wired.includes(hook))
  return (
    <Card title="Agents on it" sub="how far each is bound, as the machine told it">
      {wired.length === 0 ? (
        <p className="px-4 py-3 text-ink-2">
          No agent is wired. On the machine, run <code>holdpoint hooks install</code>.
        </p>
      ) : (
        <ul>
          {wired.map(hook => (
            <Agent key={hook.client} hook={hook} />
          ))}
        </ul>
      )}
      {wired.length > 0 && others.length > 0 && (
        <p className="flex flex-wrap items-center gap-x-2 gap-y-1 border-t px-4 py-2.5 text-ink-3 text-sm">
          <LevelPill level="not-installed" />
          {others.map(hook => nameOf(hook.client)).join(', ')}
        </p>
      )}
    </Card>
  )
}

function Agent({ hook }: { hook: Hook }) {
  const limits = hook.level === 'not-installed' ? [] : (CLIENT_LIMITS[hook.client as Client] ?? [])
  const levels = [...new Set(hook.rules.map(one => one.level))]
  return (
    <li className="grid gap-1 border-b px-4 py-3 last:border-b-0">
      <div className="flex flex-wrap items-center gap-2">
        <span className="font-medium">{nameOf(hook.client)}</span>
        {hook.version && <span className="text-ink-3 text-xs">{hook.version}</span>}
        <span className="ml-auto">
          <LevelPill level={hook.level} />
        </span>
      </div>
      <p className="text-ink-2 text-sm">{LEVEL_WORDS[hook.level]?.help}</p>
      {hook.lost && (
        <p className="text-held text-sm">
          It was held better before; that changed <Time at={hook.changedAt} show="relative" />. On the machine,{' '}
          <code>holdpoint hooks status</code> says what to do.
        </p>
      )}
      {hook.off.length > 0 && (
        <p className="text-sm text-waiting">To know: {hook.off.map(switchedOffWords).join('; ')}.</p>
      )}
      {levels.map(level => (
        <p key={level} className="flex flex-wrap items-center gap-x-2 gap-y-1 text-ink-2 text-sm">
          <LevelPill level={level} />
          for {hook.rules.flatMap(one => (one.level === level ? [one.rule] : [])).join(', ')}
        </p>
      ))}
      {limits.length > 0 && (
        <details className="text-ink-3 text-sm">
          <summary className="cursor-pointer">What cannot be held there</summary>
          <ul className="mt-1 grid list-disc gap-0.5 pl-5">
            {limits.map(limit => (
              <li key={limit}>{limit}</li>
            ))}
          </ul>
        </details>
      )}
    </li>
  )
}

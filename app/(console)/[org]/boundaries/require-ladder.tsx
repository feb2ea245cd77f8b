'use client'

import { SegmentedControl } from '#app/_ui/segmented-control.tsx'
import { Select } from '#app/_ui/select.tsx'
import { roleWords } from '#core/boundary/describe.ts'
import { isLadderRole, ROLES } from '#core/role.ts'

type Rung = 'allow' | 'ask' | 'approver' | 'deny'

const HELP: Record<Rung, string> = {
  allow: 'Lets the call through and records that the rule was met.',
  ask: 'Asks the person at the keyboard; refuses when nobody is there.',
  approver: 'Refuses and files a request. Anyone with the role can let it go on, from the mail or this page.',
  deny: 'Refuses. Nobody can let it go on; the figure or the rule has to change.',
}

type Props = { value: string; disabled: boolean; onChange: (require: string) => void; showLabel?: boolean }

/** What a rule demands, from lightest to strictest, and whose approval. */
export function RequireLadder({ value, disabled, onChange, showLabel = true }: Props) {
  const named = /^approver:\s*(\w+)$/.exec(value)?.[1]
  const role = isLadderRole(named) ? named : 'lead'
  const rung: Rung | undefined = named ? 'approver' : (['allow', 'ask', 'deny'] as const).find(each => each === value)
  return (
    <div className="grid gap-2">
      <SegmentedControl<Rung>
        label="Then it demands"
        showLabel={showLabel}
        full
        disabled={disabled}
        // Nothing is chosen while the text says something else; the control stays a controlled one.
        value={rung ?? ('' as Rung)}
        onChange={next => onChange(next === 'approver' ? `approver:${role}` : next)}
        segments={[
          { value: 'allow', label: 'allow' },
          { value: 'ask', label: 'ask' },
          { value: 'approver', label: `approver: ${role}` },
          { value: 'deny', label: 'deny' },
        ]}
      />
      {rung === 'approver' && (
        <Select
          aria-label="Whose approval"
          disabled={disabled}
          value={role}
          options={ROLES.map(each => ({ value: each, label: `approval of ${roleWords(each)}` }))}
          onChange={event => onChange(`approver:${event.target.value}`)}
        />
      )}
      {rung && <p className="text-ink-3 text-xs">{HELP[rung]}</p>}
    </div>
  )
}

'use client'

import { ChevronRight, Trash2 } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { Button } from '#app/_ui/button.tsx'
import { Field } from '#app/_ui/field.tsx'
import { SegmentedControl } from '#app/_ui/segmented-control.tsx'
import { Select } from '#app/_ui/select.tsx'
import type { EditResult } from '#core/boundary/document-edit.ts'
import { setField } from '#core/boundary/edit.ts'
import { MAX_APPROVALS } from '#core/boundary/limits.ts'
import { ACTIONS, isAction } from '#core/boundary/shape.ts'
import { ConditionFields } from './condition-fields.tsx'
import { type WrittenRule, whenOf } from './draft-rules.ts'
import { renameRule } from './edit-cases.ts'
import { RequireLadder } from './require-ladder.tsx'
import { namesIn, setAction, setAppliesTo, setRequire, setRuleStage } from './rule-edit.ts'
import { ACTION_LABELS } from './rule-words.ts'
import { ACTION_HELP } from './schema-words.ts'
import { TypedInput } from './typed-input.tsx'

type Props = {
  rule: WrittenRule
  text: string
  taken: readonly string[]
  /** What is wrong, by key; `''` for what belongs to no single field. */
  errors: Readonly<Record<string, string>>
  readOnly: boolean
  onWrite: (text: string) => void
  onRenamed: (name: string) => void
  onRemove: () => void
}

/** The fields of one rule. Each writes its own key into the text and leaves everything else as it stands. */
export function RuleForm({ rule, text, taken, errors, readOnly, onWrite, onRenamed, onRemove }: Props) {
  const [refused, setRefused] = useState<string>()
  const take = (result: EditResult): string | undefined => {
    setRefused(result.ok ? undefined : result.message)
    if (!result.ok) return result.message
    onWrite(result.text)
    return undefined
  }
  const { name, fields } = rule
  const action = fields.action ?? ''
  const require = fields.require ?? ''
  const rename = (next: string): string | undefined => {
    if (next === '' || taken.includes(next)) return 'A rule needs a name that no other rule has.'
    const reason = take(renameRule(text, name, next))
    if (reason === undefined) onRenamed(next)
    return reason
  }
  const [nameRefused, setNameRefused] = useState<string>()
  return (
    <div className="grid gap-5 px-4 pt-1 pb-5">
      <div className="grid gap-4 sm:grid-cols-2">
        <Field label="Name" error={nameRefused ?? errors.name} hint={`Agents and approvers read org:${name}.`}>
          <TypedInput mono when="leave" value={name} disabled={readOnly} onWrite={rename} onRefused={setNameRefused} />
        </Field>
        <Field label="Before" error={errors.action} hint={isAction(action) ? ACTION_HELP[action] : undefined}>
          <Select
            value={action}
            disabled={readOnly}
            options={[
              ...(isAction(action) ? [] : [{ value: action, label: action || 'choose an action' }]),
              ...ACTIONS.map(each => ({ value: each as string, label: ACTION_LABELS[each] })),
            ]}
            onChange={event => take(setAction(text, rule, event.target.value))}
          />
        </Field>
      </div>
      <ConditionFields
        rule={rule}
        error={errors.when}
        disabled={readOnly}
        onWrite={(when, qualifiers) => take(setField(text, name, 'when', whenOf(when, qualifiers)))}
      />
      <div className="grid gap-1.5">
        <RequireLadder value={require} disabled={readOnly} onChange={next => take(setRequire(text, name, next))} />
        {errors.require && <Wrong>{errors.require}</Wrong>}
      </div>
      <div className="grid gap-1.5">
        <SegmentedControl
          label="Stage"
          showLabel
          disabled={readOnly}
          value={fields.stage === 'enforce' ? 'enforce' : 'shadow'}
          onChange={next => take(setRuleStage(text, name, next))}
          segments={[
            { value: 'shadow', label: 'shadow' },
            { value: 'enforce', label: 'enforce' },
          ]}
        />
        <p className="text-ink-3 text-xs">
          {fields.stage === 'enforce'
            ? 'It binds: what it demands happens.'
            : 'It is evaluated at every call and recorded, and changes nothing.'}
        </p>
        {errors.stage && <Wrong>{errors.stage}</Wrong>}
      </div>
      <Field
        label="Why the rule is there"
        optional
        error={errors.note}
        hint="Shown to the agent when it is stopped, and to whoever is asked."
      >
        <TypedInput
          area
          value={fields.note ?? ''}
          disabled={readOnly}
          onWrite={typed => take(setField(text, name, 'note', typed.trim() === '' ? undefined : typed))}
        />
      </Field>
      <More rule={rule} errors={errors} readOnly={readOnly} text={text} take={take} />
      {(refused || errors['']) && <Wrong>{refused ?? errors['']}</Wrong>}
      {rule.others.length > 0 && (
        <p className="text-ink-3 text-xs">
          Also set, and changed in YAML only: <code>{rule.others.join(', ')}</code>
        </p>
      )}
      {!readOnly && (
        <div>
          <Button size="sm" variant="danger" icon={<Trash2 aria-hidden />} onClick={onRemove}>
            Remove the rule
          </Button>
        </div>
      )}
    </div>
  )
}

type MoreProps = Pick<Props, 'rule' | 'text' | 'errors' | 'readOnly'> & {
  take: (result: EditResult) => string | undefined
}

/** What most rules leave out. Open from the start where something of it is set. */
function More({ rule, text, errors, readOnly, take }: MoreProps) {
  const { name, fields } = rule
  const approver = fields.require?.startsWith('approver:') ?? false
  const asks = approver || fields.require === 'ask'
  const growing = rule.when.find(each => each.figure === 'session_cost_usd' || each.figure === 'budget_used_pct')
  const inUse = ['approvals', 'expires', 'step', 'on_unknown'].some(key => fields[key] !== undefined)
  const limited = Object.values(rule.for).some(names => names.length > 0)
  const set = (key: 'approvals' | 'expires' | 'step' | 'on_unknown', value: string) => {
    const trimmed = value.trim()
    const number = key === 'approvals' || key === 'step'
    const json = number && /^\d{1,9}(\.\d{1,6})?$/.test(trimmed) ? Number(trimmed) : trimmed
    return take(setField(text, name, key, trimmed === '' ? undefined : json))
  }
  return (
    <details className="group rounded-md border" open={inUse || limited || undefined}>
      <summary className="flex min-h-9 list-none items-center gap-2 rounded-md px-3 font-medium text-sm hover:bg-raised">
        <ChevronRight aria-hidden className="size-4 text-ink-3 group-open:rotate-90" />
        Who, how long, for whom
      </summary>
      <div className="grid gap-4 px-3 pt-2 pb-4 sm:grid-cols-2">
        {approver && (
          <Field label="People who must approve" error={errors.approvals} hint="Different people. One denial ends it.">
            <Select
              value={fields.approvals ?? '1'}
              disabled={readOnly}
              options={Array.from({ length: MAX_APPROVALS }, (_, i) => ({
                value: String(i + 1),
                label: String(i + 1),
              }))}
              onChange={event => set('approvals', event.target.value === '1' ? '' : event.target.value)}
            />
          </Field>
        )}
        {asks && (
          <Field
            label="A request waits"
            optional
            error={errors.expires}
            hint="From 5m to 24h, such as 30m or 2h. One hour when empty."
          >
            <TypedInput
              value={fields.expires ?? ''}
              placeholder="1h"
              disabled={readOnly}
              onWrite={typed => set('expires', typed)}
            />
          </Field>
        )}
        {asks && growing && (
          <Field
            label="An answer holds until it has grown by"
            optional
            error={errors.step}
            hint="Then it asks again. Otherwise for the session, at most a day."
          >
            <TypedInput
              value={fields.step ?? ''}
              inputMode="decimal"
              prefix={growing.figure === 'session_cost_usd' ? '$' : undefined}
              suffix={growing.figure === 'session_cost_usd' ? undefined : 'points'}
              disabled={readOnly}
              onWrite={typed => set('step', typed)}
            />
          </Field>
        )}
        <Field
          label="When a figure cannot be read"
          error={errors.on_unknown}
          hint="Passing is the default: a broken figure stops nobody."
        >
          <Select
            value={fields.on_unknown ?? 'pass'}
            disabled={readOnly}
            options={[
              { value: 'pass', label: 'pass: the rule does not hold' },
              { value: 'hold', label: 'hold: as if it had been crossed' },
            ]}
            onChange={event => set('on_unknown', event.target.value === 'pass' ? '' : event.target.value)}
          />
        </Field>
        <div className="grid gap-4 sm:col-span-2 sm:grid-cols-3">
          {(['tenants', 'projects', 'machines'] as const).map(kind => (
            <Field
              key={kind}
              label={`Only these ${kind}`}
              hint={kind === 'tenants' ? 'Names with commas, * being a wildcard. Unknown applies.' : undefined}
              error={kind === 'tenants' ? errors.for : undefined}
            >
              <TypedInput
                when="leave"
                mono
                value={rule.for[kind].join(', ')}
                placeholder="all"
                disabled={readOnly}
                onWrite={typed => take(setAppliesTo(text, name, { ...rule.for, [kind]: namesIn(typed) }))}
              />
            </Field>
          ))}
        </div>
      </div>
    </details>
  )
}

function Wrong({ children }: { children: ReactNode }) {
  return (
    <p role="alert" className="text-held text-sm">
      {children}
    </p>
  )
}

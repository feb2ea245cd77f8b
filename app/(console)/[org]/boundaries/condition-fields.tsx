'use client'

import { Plus, X } from 'lucide-react'
import { Button } from '#app/_ui/button.tsx'
import { cn } from '#app/_ui/class-names.ts'
import { IconButton } from '#app/_ui/icon-button.tsx'
import { Select } from '#app/_ui/select.tsx'
import { figureLabel } from '#core/boundary/describe.ts'
import { type Action, conditionsFor, isAction } from '#core/boundary/shape.ts'
import { FIGURE_NAMES, FIGURES, type FigureName, isFigureName } from '#core/figure.ts'
import type { WrittenCondition, WrittenRule } from './draft-rules.ts'
import { COMPARATOR_WORDS, comparatorsFor, startingValue, valuesFor, windowsFor } from './rule-words.ts'
import { FIGURE_HELP } from './schema-words.ts'
import { TypedInput } from './typed-input.tsx'

type Props = {
  rule: WrittenRule
  error?: string
  disabled: boolean
  onWrite: (when: readonly WrittenCondition[], qualifiers: WrittenRule['qualifiers']) => string | undefined
}

/** The conditions of a rule: figure, comparison and what narrows it. Only those that the action can be judged by are offered. */
export function ConditionFields({ rule, error, disabled, onWrite }: Props) {
  const action = rule.fields.action ?? ''
  const known: readonly FigureName[] = isAction(action) ? conditionsFor(action as Action) : FIGURE_NAMES
  const unused = known.filter(figure => !rule.when.some(condition => condition.figure === figure))
  const replace = (at: number, next: WrittenCondition | undefined) =>
    onWrite(
      rule.when.flatMap((condition, i) => (i === at ? (next ? [next] : []) : [condition])),
      rule.qualifiers,
    )
  return (
    <fieldset disabled={disabled} className="grid min-w-0 gap-2">
      <legend className="mb-1.5 font-medium text-sm">
        Holds when {rule.when.length > 1 && <span className="font-normal text-ink-3">all of these are true</span>}
      </legend>
      {rule.when.map((condition, at) => (
        <ConditionRow
          // biome-ignore lint/suspicious/noArrayIndexKey: a row keeps its focus when its figure is changed
          key={at}
          condition={condition}
          choices={[condition.figure, ...unused]}
          qualifiers={rule.qualifiers}
          removable={rule.when.length > 1}
          onChange={next => replace(at, next)}
          onRemove={() => replace(at, undefined)}
          onQualify={qualifiers => onWrite(rule.when, qualifiers)}
        />
      ))}
      {error && (
        <p role="alert" className="text-held text-sm">
          {error}
        </p>
      )}
      {unused.length > 0 && (
        <div>
          <Button
            size="sm"
            variant="ghost"
            icon={<Plus aria-hidden />}
            onClick={() =>
              onWrite([...rule.when, { figure: unused[0]!, ...startingValue(unused[0]!) }], rule.qualifiers)
            }
          >
            Add a condition
          </Button>
        </div>
      )}
    </fieldset>
  )
}

type RowProps = {
  condition: WrittenCondition
  choices: readonly string[]
  qualifiers: WrittenRule['qualifiers']
  removable: boolean
  onChange: (next: WrittenCondition) => string | undefined
  onRemove: () => void
  onQualify: (qualifiers: WrittenRule['qualifiers']) => void
}

function ConditionRow({ condition, choices, qualifiers, removable, onChange, onRemove, onQualify }: RowProps) {
  const { figure, op, value } = condition
  const kind = isFigureName(figure) ? FIGURES[figure] : undefined
  const name = isFigureName(figure) ? figureLabel(figure) : figure
  const fixed = valuesFor(figure)
  const windows = windowsFor(figure)
  const comparators = comparatorsFor(figure)
  return (
    <div className="grid gap-1">
      <div className={cn('grid grid-cols-2 items-center gap-2 sm:flex sm:flex-wrap')}>
        <Select
          aria-label="Figure"
          className="max-sm:col-span-2 sm:w-44"
          value={figure}
          options={choices.map(each => ({ value: each, label: isFigureName(each) ? figureLabel(each) : each }))}
          onChange={event => {
            const next = event.target.value as FigureName
            onChange({ figure: next, ...startingValue(next) })
          }}
        />
        <Select
          aria-label={`Comparison of ${name}`}
          className="sm:w-38"
          value={op}
          options={[...new Set([op, ...comparators])]
            .filter(sign => sign !== '' || op === '')
            .map(sign => ({ value: sign, label: COMPARATOR_WORDS[sign] ?? (sign || 'choose') }))}
          onChange={event => onChange({ ...condition, op: event.target.value })}
        />
        {fixed ? (
          <Select
            aria-label={`Value of ${name}`}
            className="sm:w-28"
            value={value}
            options={[...new Set([value, ...fixed])].map(each => ({ value: each, label: each }))}
            onChange={event => onChange({ ...condition, value: event.target.value })}
          />
        ) : (
          <TypedInput
            aria-label={`Value of ${name}`}
            className={kind?.unit === 'name' ? 'sm:w-60' : 'sm:w-28'}
            value={value}
            inputMode={kind?.unit === 'name' ? 'text' : 'decimal'}
            prefix={kind?.unit === 'usd' ? '$' : undefined}
            suffix={kind?.unit === 'pct' ? '%' : undefined}
            mono={kind?.unit === 'name'}
            onWrite={typed => onChange({ ...condition, value: typed.trim() })}
          />
        )}
        {windows && (
          <Select
            aria-label="Plan window"
            className="sm:w-36"
            value={qualifiers.window ?? ''}
            placeholder="tightest window"
            options={windows.map(each => ({ value: each, label: each === 'week' ? 'of the week' : `of ${each}` }))}
            onChange={event => onQualify({ ...qualifiers, window: event.target.value || undefined })}
          />
        )}
        {figure === 'budget_used_pct' && (
          <TypedInput
            aria-label="Budget"
            className="sm:w-36"
            value={qualifiers.budget ?? ''}
            placeholder="fullest budget"
            onWrite={typed => {
              onQualify({ ...qualifiers, budget: typed.trim() || undefined })
              return undefined
            }}
          />
        )}
        {removable && (
          <IconButton
            label={`Remove the condition on ${name}`}
            icon={<X aria-hidden />}
            className="max-sm:col-start-2 max-sm:justify-self-end"
            onClick={onRemove}
          />
        )}
      </div>
      {isFigureName(figure) && <p className="text-ink-3 text-xs">{FIGURE_HELP[figure]}</p>}
    </div>
  )
}

'use client'

import { Plus, X } from 'lucide-react'
import { Button } from '#app/_ui/button.tsx'
import { Field } from '#app/_ui/field.tsx'
import { IconButton } from '#app/_ui/icon-button.tsx'
import { TextInput } from '#app/_ui/text-input.tsx'
import { INVOICE_HAND_LINES_MAX } from '#core/limits.ts'

export type HandLine = { day: string; model: string; amount: string }

/** What is sent of typed lines: a box that was left empty says nothing. */
export const sentLines = (lines: readonly HandLine[]) =>
  lines.map(({ day, model, amount }) => ({
    ...(day.trim() ? { day: day.trim() } : {}),
    ...(model.trim() ? { model: model.trim() } : {}),
    amount: amount.trim(),
  }))

/** Lines of an invoice to type in: an amount, and what it is of as far as somebody knows. */
export function HandLines({ lines, onChange }: { lines: readonly HandLine[]; onChange: (lines: HandLine[]) => void }) {
  const set = (at: number, change: Partial<HandLine>) =>
    onChange(lines.map((line, i) => (i === at ? { ...line, ...change } : line)))
  return (
    <fieldset className="grid gap-3">
      <legend className="mb-1.5 font-medium text-sm">Lines</legend>
      {lines.map((line, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines have no name of their own, and boxes are filled by place
        <div key={at} className="grid grid-cols-2 items-end gap-2 sm:grid-cols-[9rem_minmax(0,1fr)_9rem_auto]">
          <Field label={`Day of line ${at + 1}`} hideLabel={at > 0} optional={at === 0}>
            <TextInput type="date" value={line.day} onChange={event => set(at, { day: event.target.value })} />
          </Field>
          <Field label={`Model of line ${at + 1}`} hideLabel={at > 0} optional={at === 0}>
            <TextInput
              mono
              spellCheck={false}
              maxLength={100}
              value={line.model}
              onChange={event => set(at, { model: event.target.value })}
            />
          </Field>
          <Field label={`Amount of line ${at + 1}`} hideLabel={at > 0} required>
            <TextInput
              inputMode="decimal"
              maxLength={40}
              placeholder="1234.50"
              value={line.amount}
              onChange={event => set(at, { amount: event.target.value })}
            />
          </Field>
          <IconButton
            label={`Leave out line ${at + 1}`}
            icon={<X aria-hidden />}
            disabled={lines.length === 1}
            onClick={() => onChange(lines.filter((_, i) => i !== at))}
          />
        </div>
      ))}
      <div>
        <Button
          size="sm"
          icon={<Plus aria-hidden />}
          disabled={lines.length >= INVOICE_HAND_LINES_MAX}
          onClick={() => onChange([...lines, { day: '', model: '', amount: '' }])}
        >
          Another line
        </Button>
      </div>
    </fieldset>
  )
}

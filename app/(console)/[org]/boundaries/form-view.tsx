'use client'

import { ChevronRight, CircleAlert, Plus, ShieldPlus } from 'lucide-react'
import { Button } from '#app/_ui/button.tsx'
import { cn } from '#app/_ui/class-names.ts'
import { EmptyState } from '#app/_ui/empty-state.tsx'
import { formatPlural } from '#app/_ui/format.ts'
import { Pill } from '#app/_ui/pill.tsx'
import { upsertRule } from '#core/boundary/edit.ts'
import type { Rule } from '#core/boundary/shape.ts'
import { type Analysis, keyOfProblem, problemText } from './analyse.ts'
import type { WrittenRule } from './draft-rules.ts'
import { removeRuleAndCases } from './edit-cases.ts'
import { RuleForm } from './rule-form.tsx'
import { freeName, STARTERS } from './rule-words.ts'
import type { DraftProblem } from './use-check.ts'

type Props = {
  text: string
  /** Undefined while the text is no YAML. */
  rules: readonly WrittenRule[] | undefined
  analysis: Analysis
  problems: readonly DraftProblem[]
  selected: string | undefined
  readOnly: boolean
  onSelect: (name: string | undefined) => void
  onWrite: (text: string) => void
  onShowText: () => void
}

/** The rules as a list, the chosen one open with its fields. */
export function FormView(props: Props) {
  const { text, rules, analysis, problems, selected, readOnly, onSelect, onWrite, onShowText } = props
  if (rules === undefined) {
    return (
      <EmptyState
        icon={<CircleAlert aria-hidden />}
        title="The text cannot be read as YAML"
        action={<Button onClick={onShowText}>Show the text</Button>}
      >
        {problems[0] ? `Line ${problems[0].line}: ${problemText(problems[0])} ` : ''}
        The form comes back once it can be read; nothing is lost.
      </EmptyState>
    )
  }
  const names = rules.map(rule => rule.name)
  const add = (rule: Rule) => {
    const name = freeName(rule.name, names)
    const result = upsertRule(text, { ...rule, name })
    if (!result.ok) return onShowText()
    onWrite(result.text)
    onSelect(name)
  }
  if (rules.length === 0) return <Starters readOnly={readOnly} onAdd={add} />
  const elsewhere = problems.filter(problem => !problem.rule || !names.includes(problem.rule))
  return (
    <div>
      <ul>
        {rules.map(rule => (
          <RuleItem
            key={`${rule.index}`}
            rule={rule}
            view={analysis.rules.get(rule.name)}
            problems={problems.filter(problem => problem.rule === rule.name)}
            open={selected === rule.name && rule.editable}
            onToggle={() => onSelect(selected === rule.name ? undefined : rule.name)}
            onShowText={onShowText}
          >
            <RuleForm
              rule={rule}
              text={text}
              taken={names.filter(name => name !== rule.name)}
              errors={errorsByKey(rule, analysis, problems)}
              readOnly={readOnly}
              onWrite={onWrite}
              onRenamed={onSelect}
              onRemove={() => {
                const result = removeRuleAndCases(text, rule.name)
                if (!result.ok) return onShowText()
                onWrite(result.text)
                onSelect(names.find(name => name !== rule.name))
              }}
            />
          </RuleItem>
        ))}
      </ul>
      {elsewhere.length > 0 && (
        <div className="border-t px-4 py-2.5 text-held text-sm" role="alert">
          {elsewhere.map(problem => (
            <p key={`${problem.line}:${problem.message}`}>
              Line {problem.line}: {problemText(problem)}
            </p>
          ))}
        </div>
      )}
      {!readOnly && (
        <div className="border-t px-4 py-3">
          <Button
            size="sm"
            icon={<Plus aria-hidden />}
            onClick={() => add({ ...STARTERS[0]!.rule, name: 'new-rule', note: undefined, require: { kind: 'ask' } })}
          >
            Add a rule
          </Button>
        </div>
      )}
    </div>
  )
}

type ItemProps = {
  rule: WrittenRule
  view: Analysis['rules'] extends ReadonlyMap<string, infer V> ? V | undefined : never
  problems: readonly DraftProblem[]
  open: boolean
  onToggle: () => void
  onShowText: () => void
  children: React.ReactNode
}

function RuleItem({ rule, view, problems, open, onToggle, onShowText, children }: ItemProps) {
  const errors = problems.filter(problem => problem.kind === 'error').length
  const id = `rule-${rule.index}`
  return (
    <li className="border-b last:border-b-0">
      <h3>
        <button
          type="button"
          aria-expanded={rule.editable ? open : undefined}
          aria-controls={open ? id : undefined}
          onClick={rule.editable ? onToggle : onShowText}
          className="grid w-full grid-cols-[1rem_1fr_auto] items-start gap-x-2.5 gap-y-0.5 px-4 py-3 text-left -outline-offset-2 hover:bg-raised"
        >
          <ChevronRight aria-hidden className={cn('mt-0.5 size-4 text-ink-3', open && 'rotate-90')} />
          <span className="min-w-0 truncate font-semibold" title={rule.name}>
            {rule.name || 'A rule without a name'}
          </span>
          <span className="flex flex-wrap items-center justify-end gap-1.5 max-sm:col-span-2 max-sm:col-start-2 max-sm:justify-start">
            {errors > 0 && (
              <Pill state="held" icon={<CircleAlert aria-hidden />}>
                {formatPlural(errors, 'mistake')}
              </Pill>
            )}
            <StagePill stage={rule.fields.stage} />
          </span>
          {!open && (
            <span className="col-start-2 col-end-4 font-normal text-ink-2 text-sm">
              {!rule.editable
                ? rule.name
                  ? 'Another rule above has this name. Change one of them in the text.'
                  : 'It has no name yet. Give it one in the text.'
                : (view?.sentence ?? (errors > 0 ? problemText(problems[0]!) : 'Not read yet.'))}
            </span>
          )}
        </button>
      </h3>
      {open && <div id={id}>{children}</div>}
    </li>
  )
}

/** Shadow or enforce, as a pill. */
export function StagePill({ stage }: { stage: string | undefined }) {
  return stage === 'enforce' ? <Pill state="passed">enforce</Pill> : <Pill state="shadow">shadow</Pill>
}

function errorsByKey(rule: WrittenRule, analysis: Analysis, problems: readonly DraftProblem[]): Record<string, string> {
  const entry = analysis.outline.find(each => each.name === rule.name)
  const errors: Record<string, string> = {}
  for (const problem of problems) {
    if (problem.rule !== rule.name || problem.kind !== 'error') continue
    const key = keyOfProblem(entry, problem)
    const field = key !== undefined && FIELDS.includes(key) ? key : ''
    errors[field] = [errors[field], problemText(problem)].filter(Boolean).join(' ')
  }
  return errors
}
const FIELDS = [
  'name',
  'action',
  'when',
  'require',
  'stage',
  'note',
  'approvals',
  'expires',
  'step',
  'on_unknown',
  'for',
]

function Starters({ readOnly, onAdd }: { readOnly: boolean; onAdd: (rule: Rule) => void }) {
  return (
    <EmptyState icon={<ShieldPlus aria-hidden />} title="No rules yet">
      {readOnly ? (
        'When an admin publishes the first rule, it appears here and on every machine.'
      ) : (
        <>
          <p className="mb-4">
            A rule names a moment, what must be true of it, and what happens then. Begin with one of these: each starts
            in shadow, where it is recorded and stops nobody.
          </p>
          <div className="grid gap-2 text-left">
            {STARTERS.map(({ title, rule }) => (
              <button
                key={rule.name}
                type="button"
                onClick={() => onAdd(rule)}
                className="flex items-center gap-3 rounded-lg border border-line-strong bg-panel px-3 py-2.5 text-left text-ink hover:border-control hover:bg-raised"
              >
                <Plus aria-hidden className="size-4 shrink-0 text-accent" />
                <span className="min-w-0">
                  <span className="block font-medium">{title}</span>
                  <code className="text-ink-3">{rule.name}</code>
                </span>
              </button>
            ))}
          </div>
        </>
      )}
    </EmptyState>
  )
}

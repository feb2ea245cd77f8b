'use client'

import { Button } from '#app/_ui/button.tsx'
import { Card } from '#app/_ui/card.tsx'
import { formatPlural } from '#app/_ui/format.ts'
import { Name } from '#app/_ui/name.tsx'
import { Select } from '#app/_ui/select.tsx'
import { addCases } from '#core/boundary/edit.ts'
import type { Preview } from '../outputs.ts'
import type { Analysis } from './analyse.ts'
import { type Binding, BindingCard } from './binding-card.tsx'
import { CasesCard } from './cases-card.tsx'
import { removeCaseAt, setCaseExpect } from './edit-cases.ts'
import { StagePill } from './form-view.tsx'
import { RequireLadder } from './require-ladder.tsx'
import { setRequire, setRuleStage } from './rule-edit.ts'
import { requirementOf } from './rule-words.ts'

type Props = {
  org: string
  text: string
  analysis: Analysis
  names: readonly string[]
  selected: string | undefined
  preview: Preview | undefined
  previewFailed: boolean
  bindings: readonly Binding[]
  readOnly: boolean
  /** The form has the ladder and the stage itself. */
  withControls: boolean
  onSelect: (name: string) => void
  onWrite: (text: string) => void
}

/** Beside the text: what the chosen rule says and does, its proof, and where it binds. */
export function RulePanel(props: Props) {
  const {
    org,
    text,
    analysis,
    names,
    selected,
    preview,
    previewFailed,
    bindings,
    readOnly,
    withControls,
    onSelect,
    onWrite,
  } = props
  const view = selected === undefined ? undefined : analysis.rules.get(selected)
  return (
    <div className="grid min-w-0 content-start gap-4">
      {selected !== undefined && (
        <Card
          title={
            names.length > 1 ? (
              <Select
                aria-label="Rule shown beside the text"
                className="-my-0.5 -ml-2 max-w-56 [&_select]:border-transparent [&_select]:font-semibold"
                value={selected}
                options={names.map(name => ({ value: name, label: name }))}
                onChange={event => onSelect(event.target.value)}
              />
            ) : (
              <Name>{selected}</Name>
            )
          }
          aside={view && <StagePill stage={view.rule.stage} />}
        >
          {view ? (
            <div className="grid gap-3.5 p-4">
              {withControls && !readOnly && (
                <RequireLadder
                  showLabel={false}
                  value={requirementOf(view.rule)}
                  disabled={false}
                  onChange={require => {
                    const result = setRequire(text, view.rule.name, require)
                    if (result.ok) onWrite(result.text)
                  }}
                />
              )}
              <p className="text-pretty">{view.sentence}</p>
              <Last30Days name={view.rule.name} preview={preview} failed={previewFailed} />
              {withControls && !readOnly && (
                <div>
                  <Button
                    size="sm"
                    onClick={() => {
                      const result = setRuleStage(
                        text,
                        view.rule.name,
                        view.rule.stage === 'enforce' ? 'shadow' : 'enforce',
                      )
                      if (result.ok) onWrite(result.text)
                    }}
                  >
                    {view.rule.stage === 'enforce' ? 'Put back into shadow' : 'Move to enforce'}
                  </Button>
                </div>
              )}
            </div>
          ) : (
            <p className="px-4 py-3 text-ink-2">This rule cannot be read yet; the mistakes stand at their lines.</p>
          )}
        </Card>
      )}
      {view && (
        <CasesCard
          view={view}
          readOnly={readOnly}
          onAccept={() => acceptProposed(text, [view.rule.name], analysis, onWrite)}
          onRemove={index => onWrite(removeCaseAt(text, index))}
          onExpect={(index, expect) => onWrite(setCaseExpect(text, index, expect))}
        />
      )}
      <BindingCard org={org} bindings={bindings} />
    </div>
  )
}

/** Writes the proposed cases of some rules into the text. */
export function acceptProposed(
  text: string,
  names: readonly string[],
  analysis: Analysis,
  onWrite: (text: string) => void,
) {
  const proposed = names.flatMap(name => analysis.rules.get(name)?.proposed ?? [])
  const result = addCases(text, proposed)
  if (result.ok && proposed.length > 0) onWrite(result.text)
}

function Last30Days({ name, preview, failed }: { name: string; preview: Preview | undefined; failed: boolean }) {
  const row = preview?.find(each => each.rule === name)
  return (
    <div className="grid grid-cols-[5.5rem_1fr] gap-3">
      <span className="text-ink-3 text-xs leading-5">Last 30 days</span>
      <span aria-live="polite">
        {row ? (
          row.calls === 0 ? (
            'would have held nothing that machines reported'
          ) : (
            <>
              would have held <b>{formatPlural(row.calls, 'call')}</b> in <b>{formatPlural(row.sessions, 'session')}</b>{' '}
              on <b>{formatPlural(row.machines, 'machine')}</b>
            </>
          )
        ) : failed ? (
          'could not be worked out just now'
        ) : (
          <span className="text-ink-3">as soon as the text is right</span>
        )}
        {row && row.unjudgedCalls > 0 && (
          <span className="block text-ink-3 text-xs">
            {formatPlural(row.unjudgedCalls, 'call')} could not be judged: a figure was not reported.
          </span>
        )}
      </span>
    </div>
  )
}

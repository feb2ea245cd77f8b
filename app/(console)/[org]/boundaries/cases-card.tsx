'use client'

import { CircleCheck, CircleX, ListPlus, X } from 'lucide-react'
import { Button } from '#app/_ui/button.tsx'
import { Card } from '#app/_ui/card.tsx'
import { formatPlural } from '#app/_ui/format.ts'
import { IconButton } from '#app/_ui/icon-button.tsx'
import { Pill } from '#app/_ui/pill.tsx'
import type { RuleView, ShownCase } from './analyse.ts'

type Props = {
  view: RuleView
  readOnly: boolean
  onAccept: () => void
  onRemove: (index: number) => void
  onExpect: (index: number, expect: string) => void
}

/** A rule's cases in both directions, run in this browser by the evaluator that machines run. */
export function CasesCard({ view, readOnly, onAccept, onRemove, onExpect }: Props) {
  const { cases, proposedShown } = view
  return (
    <Card title="Cases" aside={<Standing view={view} />}>
      <ul>
        {cases.map(item => (
          <CaseRow key={item.key} item={item}>
            {!readOnly && (
              <span className="flex items-center gap-1">
                {!item.ok && (
                  <Button size="sm" variant="ghost" onClick={() => onExpect(item.index!, item.got)}>
                    Expect {item.got}
                  </Button>
                )}
                <IconButton
                  size="sm"
                  label={`Remove the case: ${item.figures}`}
                  icon={<X aria-hidden />}
                  onClick={() => onRemove(item.index!)}
                />
              </span>
            )}
          </CaseRow>
        ))}
      </ul>
      {proposedShown.length > 0 && !readOnly && (
        <div className="border-t bg-raised first:border-t-0">
          <div className="flex flex-wrap items-center gap-2 px-4 py-2">
            <p className="mr-auto text-ink-2 text-sm">
              {cases.length === 0 ? 'Proposed from its thresholds' : 'Also proposed'}
            </p>
            <Button size="sm" icon={<ListPlus aria-hidden />} onClick={onAccept} aria-keyshortcuts="Alt+A">
              Accept {formatPlural(proposedShown.length, 'case')}
              <kbd className="rounded-sm border px-1 text-ink-3 text-xs max-sm:hidden">Alt A</kbd>
            </Button>
          </div>
          <ul className="border-t">
            {proposedShown.map(item => (
              <CaseRow key={item.key} item={item} />
            ))}
          </ul>
        </div>
      )}
      {cases.length === 0 && proposedShown.length === 0 && (
        <p className="px-4 py-3 text-ink-2">
          No case says what this rule must do. Write some under <code>tests:</code> in the text.
        </p>
      )}
    </Card>
  )
}

function Standing({ view }: { view: RuleView }) {
  if (view.failing > 0) return <span className="font-medium text-held">{formatPlural(view.failing, 'case')} fail</span>
  if (view.proven) return <span>both directions hold</span>
  return <span>lacks {view.lacking.map(what => (what === 'must_stop' ? 'must stop' : 'must pass')).join(' and ')}</span>
}

function CaseRow({ item, children }: { item: ShownCase; children?: React.ReactNode }) {
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b px-4 py-2 last:border-b-0">
      <Pill state={item.mustPass ? 'passed' : 'held'} className="w-24">
        {item.mustPass ? 'must pass' : item.expect === 'allow' ? 'must match' : 'must stop'}
      </Pill>
      <span className="min-w-0 flex-1 basis-28 [overflow-wrap:anywhere]">
        {item.figures} → <code>{item.got === 'pass' ? 'passes' : item.got}</code>
        {!item.ok && (
          <span className="block text-held text-sm">
            expected <code>{item.expect === 'pass' ? 'passes' : item.expect}</code>
          </span>
        )}
      </span>
      <span className={item.ok ? 'text-passed' : 'text-held'}>
        {item.ok ? <CircleCheck aria-hidden className="size-4" /> : <CircleX aria-hidden className="size-4" />}
        <span className="sr-only">{item.ok ? 'holds' : 'fails'}</span>
      </span>
      {children}
    </li>
  )
}

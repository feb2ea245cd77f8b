'use client'

import { History, Undo2 } from 'lucide-react'
import { useRouter } from 'next/navigation'
import { useDeferredValue, useEffect, useMemo, useState } from 'react'
import { Banner } from '#app/_ui/banner.tsx'
import { Button } from '#app/_ui/button.tsx'
import { Card } from '#app/_ui/card.tsx'
import { ConfirmDialog } from '#app/_ui/confirm-dialog.tsx'
import { formatPlural } from '#app/_ui/format.ts'
import { PageHeader } from '#app/_ui/page-header.tsx'
import { SegmentedControl } from '#app/_ui/segmented-control.tsx'
import { Time } from '#app/_ui/time.tsx'
import type { CurrentRuleSet } from '../outputs.ts'
import { analyse } from './analyse.ts'
import type { Binding } from './binding-card.tsx'
import { writtenRules } from './draft-rules.ts'
import { FormView } from './form-view.tsx'
import { PublishDialog } from './publish-dialog.tsx'
import { acceptProposed, RulePanel } from './rule-panel.tsx'
import { type InForce, StaleDialog } from './stale-dialog.tsx'
import { TextView } from './text-view.tsx'
import { problemsOf, useCheck } from './use-check.ts'
import { useDraft } from './use-draft.ts'
import { useLeaveWarning } from './use-leave-warning.ts'

type Props = {
  org: string
  orgName: string
  memberId: string
  current: CurrentRuleSet
  bindings: readonly Binding[]
  /** Why this reader may not change anything; absent when they may. */
  readOnlyWhy?: string
}

const VIEWS = [
  { value: 'form', label: 'Form' },
  { value: 'yaml', label: 'YAML' },
] as const

const RESTORED_WORDS = 'Nothing is published until an owner has confirmed the restored copy in the settings.'

/** One text, two views of it, and beside it what it means. */
export function BoundaryEditor({ org, orgName, memberId, current, bindings, readOnlyWhy }: Props) {
  const router = useRouter()
  const readOnly = readOnlyWhy !== undefined
  const inForce = useMemo(() => asInForce(current), [current])
  const draft = useDraft(org, memberId, inForce, !readOnly)
  const { base, text, write } = draft
  const dirty = draft.dirty && !readOnly
  const [view, setView] = useState<'form' | 'yaml'>('form')
  const [wanted, setWanted] = useState<string>()
  // Who may not write reads the sentences first.
  const [closed, setClosed] = useState(readOnly)
  const [reviewing, setReviewing] = useState(false)
  const [stale, setStale] = useState<InForce>()
  const [toldOfDraft, setToldOfDraft] = useState(false)

  const shown = useDeferredValue(text)
  const analysis = useMemo(() => analyse(shown), [shown])
  const rules = useMemo(() => writtenRules(text), [text])
  const { check, preview, previewFailed } = useCheck(org, text, analysis)
  const problems = useMemo(() => problemsOf(analysis, check), [analysis, check])
  const errors = problems.filter(problem => problem.kind === 'error').length
  const names = [...new Set(analysis.outline.map(rule => rule.name))]
  const selected = wanted !== undefined && names.includes(wanted) ? wanted : names[0]
  const overtaken = dirty && current.version > base.version && !reviewing
  const leaving = useLeaveWarning(dirty)

  // A link may name the rule it is about, after the #.
  useEffect(() => {
    const named = location.hash.slice(1)
    if (named === '') return
    setWanted(named)
    setClosed(false)
  }, [])

  useEffect(() => {
    if (readOnly) return
    const onKeyDown = (event: KeyboardEvent) => {
      if (!event.altKey || event.ctrlKey || event.metaKey || event.code !== 'KeyA' || selected === undefined) return
      event.preventDefault()
      acceptProposed(text, [selected], analysis, write)
    }
    window.addEventListener('keydown', onKeyDown)
    return () => window.removeEventListener('keydown', onKeyDown)
  }, [readOnly, selected, text, analysis, write])

  const choose = (name: string | undefined) => {
    setWanted(name ?? selected)
    setClosed(name === undefined)
  }
  return (
    <>
      <PageHeader
        title="Boundaries"
        sub={`Limits for every agent in ${orgName}. They only tighten what a developer sets; nothing binds until you move it from shadow to enforce.`}
        facts={
          current.version > 0
            ? `In force: version ${current.version} · ${current.inForceOn} of ${formatPlural(current.machines, 'machine')}`
            : 'Nothing is published yet'
        }
        actions={
          <>
            <Button href={`/${org}/boundaries/history`} icon={<History aria-hidden />}>
              History
            </Button>
            {!readOnly && (
              <Button
                variant="primary"
                disabled={!draft.dirty || current.restored}
                title={current.restored ? RESTORED_WORDS : draft.dirty ? undefined : 'Change a rule first.'}
                onClick={() => setReviewing(true)}
              >
                Review and publish
              </Button>
            )}
          </>
        }
      />
      <div className="mb-4 grid gap-2 empty:hidden">
        {readOnlyWhy && (
          <Banner kind="note" title="You can read these rules, but not publish them.">
            {readOnlyWhy}
          </Banner>
        )}
        {draft.found && dirty && !overtaken && !toldOfDraft && (
          <Banner
            kind="note"
            title="Your draft is back."
            action={
              <Button size="sm" onClick={() => setToldOfDraft(true)}>
                Got it
              </Button>
            }
          >
            It was kept in this browser <Time at={draft.found.savedAt} show="relative" />, on top of{' '}
            {base.version === 0 ? 'an empty set' : `version ${base.version}`}.
          </Banner>
        )}
        {overtaken && (
          <Banner
            kind="stale"
            title={`Version ${current.version} was published${current.publishedBy ? ` by ${current.publishedBy}` : ''} while you were writing.`}
            action={
              <Button size="sm" onClick={() => setStale(inForce)}>
                See both changes
              </Button>
            }
          >
            Your draft stands on {base.version === 0 ? 'an empty set' : `version ${base.version}`} and cannot be
            published as it is.
          </Banner>
        )}
        {dirty && !draft.kept && (
          <Banner kind="problem" title="This browser does not keep the draft.">
            Its storage is full or switched off: publish, or copy the text, before you leave.
          </Banner>
        )}
      </div>
      <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-4 lg:grid-cols-[minmax(0,1.25fr)_minmax(0,1fr)]">
        <Card
          title="Rule set"
          sub={
            dirty
              ? `draft of version ${current.version + 1}`
              : current.version > 0
                ? `version ${current.version}`
                : 'empty'
          }
          aside={
            <>
              {dirty && (
                <span className="flex items-center gap-1">
                  {draft.canUndo && (
                    <Button size="sm" variant="ghost" icon={<Undo2 aria-hidden />} onClick={draft.undo}>
                      Undo
                    </Button>
                  )}
                  <DiscardButton version={base.version} onDiscard={() => draft.restart(inForce)} />
                </span>
              )}
              <SegmentedControl label="View" value={view} onChange={setView} segments={VIEWS} />
            </>
          }
        >
          {view === 'form' ? (
            <FormView
              text={text}
              rules={rules}
              analysis={analysis}
              problems={problems}
              selected={closed ? undefined : selected}
              readOnly={readOnly}
              onSelect={choose}
              onWrite={write}
              onShowText={() => setView('yaml')}
            />
          ) : (
            <TextView
              text={text}
              problems={problems}
              outline={analysis.outline}
              readOnly={readOnly}
              onWrite={next => write(next, true)}
              onRule={setWanted}
            />
          )}
        </Card>
        <RulePanel
          org={org}
          text={text}
          analysis={analysis}
          names={names}
          selected={selected}
          preview={preview}
          previewFailed={previewFailed}
          bindings={bindings}
          readOnly={readOnly}
          withControls={view === 'yaml'}
          onSelect={choose}
          onWrite={write}
        />
      </div>
      <p role="status" className="sr-only">
        {dirty ? `Draft kept in this browser. ${errors > 0 ? formatPlural(errors, 'mistake') : 'No mistakes.'}` : ''}
      </p>
      {reviewing && (
        <PublishDialog
          org={org}
          base={base}
          text={text}
          analysis={analysis}
          machines={current.machines}
          onAcceptCases={enforced => acceptProposed(text, enforced, analysis, write)}
          onClose={() => {
            setReviewing(false)
            focusPage()
          }}
          onPublished={published => {
            draft.restart(published)
            router.refresh()
          }}
          onStale={other => {
            setReviewing(false)
            setStale(other)
            router.refresh()
          }}
        />
      )}
      {stale && (
        <StaleDialog
          base={base}
          mine={text}
          theirs={stale}
          onClose={() => setStale(undefined)}
          onCarry={merged => {
            draft.restart(stale, merged)
            setStale(undefined)
          }}
        />
      )}
      <ConfirmDialog
        title="Leave with unpublished changes?"
        description="Your draft is kept in this browser and waits for you here. Nothing of it is in force."
        confirmLabel="Leave"
        tone="primary"
        open={leaving.wanted !== undefined}
        onOpenChange={open => !open && leaving.stay()}
        onConfirm={() => leaving.wanted && router.push(leaving.wanted)}
      />
    </>
  )
}

/** What had the focus before is shut or gone once a set is published: the page itself takes it, not the document's end. */
function focusPage() {
  requestAnimationFrame(() => {
    if (document.activeElement === document.body) document.getElementById('main')?.focus()
  })
}

const asInForce = (current: Pick<CurrentRuleSet, 'version' | 'etag' | 'text' | 'publishedBy' | 'note'>): InForce => ({
  version: current.version,
  etag: current.etag,
  text: current.text,
  publishedBy: current.publishedBy,
  note: current.note,
})

function DiscardButton({ version, onDiscard }: { version: number; onDiscard: () => void }) {
  return (
    <ConfirmDialog
      title="Discard your draft?"
      description={version === 0 ? 'What you wrote is thrown away.' : 'The text goes back to what is in force.'}
      confirmLabel="Discard the draft"
      trigger={
        <Button size="sm" variant="ghost">
          Discard
        </Button>
      }
      onConfirm={onDiscard}
    />
  )
}

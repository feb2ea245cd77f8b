'use client'

import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useTRPC } from '#app/_client/trpc.tsx'
import type { Problem } from '#core/boundary/problem.ts'
import type { DraftCheck } from '../outputs.ts'
import type { Analysis } from './analyse.ts'
import { useDebounced } from './use-debounced.ts'

export type DraftProblem = Pick<
  Problem,
  'rule' | 'line' | 'column' | 'endLine' | 'endColumn' | 'message' | 'remedy'
> & {
  code: string
  kind: 'error' | 'warning'
}

/**
 * What only the server knows of a draft: who could answer, which machines could not take it, what the rules would have done in
 * the last thirty days. Asked once the text has been still for a moment.
 */
export function useCheck(org: string, text: string, analysis: Analysis) {
  const trpc = useTRPC()
  const still = useDebounced(text, 400)
  const readable = analysis.errors.length === 0 && still === text && text.trim() !== ''
  const check = useQuery(
    trpc.boundary.check.queryOptions({ org, text: still }, { enabled: readable, placeholderData: keepPreviousData }),
  )
  const preview = useQuery(
    trpc.boundary.preview.queryOptions({ org, text: still }, { enabled: readable, placeholderData: keepPreviousData }),
  )
  const current = readable && !check.isPlaceholderData ? check.data : undefined
  return { check: current, preview: preview.data, previewFailed: preview.isError, previewing: preview.isFetching }
}

/** Every problem of a draft, the browser's own at once and the server's when they fit this very text. */
export function problemsOf(analysis: Analysis, check: DraftCheck | undefined): DraftProblem[] {
  const people = ['nobody_can_answer', 'only_the_requester']
  const all: DraftProblem[] = [
    ...analysis.errors.map(problem => ({ ...problem, kind: 'error' as const })),
    ...analysis.warnings.map(problem => ({ ...problem, kind: 'warning' as const })),
    ...[...analysis.rules.values()]
      .filter(view => view.rule.stage === 'enforce' && !view.proven)
      .map(view => unproven(analysis, view)),
    ...(check?.errors ?? [])
      .filter(problem => people.includes(problem.code))
      .map(problem => ({ ...problem, kind: 'error' as const })),
    ...(check?.warnings ?? [])
      .filter(problem => people.includes(problem.code))
      .map(problem => ({ ...problem, kind: 'warning' as const })),
  ]
  return all.sort((a, b) => a.line - b.line || a.column - b.column)
}

type View = Analysis['rules'] extends ReadonlyMap<string, infer V> ? V : never

/** A rule that is to bind without its proof. */
function unproven(analysis: Analysis, { rule, lacking, failing }: View): DraftProblem {
  const entry = analysis.outline.find(each => each.name === rule.name)
  const words = lacking.map(what =>
    what === 'must_stop' ? 'a case that it must stop' : 'a case that it must let pass',
  )
  return {
    rule: rule.name,
    line: entry?.keyLines.stage ?? entry?.startLine ?? 1,
    column: 1,
    code: 'not_proven',
    kind: 'error',
    message:
      failing > 0
        ? `${rule.name} cannot be enforced while ${failing === 1 ? 'one of its cases fails' : `${failing} of its cases fail`}`
        : `${rule.name} cannot be enforced yet: it lacks ${words.join(' and ')}`,
    remedy: failing > 0 ? 'change the case or the rule' : 'accept the proposed cases, or leave it in shadow',
  }
}

'use client'

import { useMemo, useRef } from 'react'
import { CodeEditor } from '#app/_ui/code-editor.tsx'
import type { RuleOutline } from '#core/boundary/edit.ts'
import { problemText, ruleAtLine } from './analyse.ts'
import { completeRules } from './complete.ts'
import { SchemaHelp } from './schema-help.tsx'
import type { DraftProblem } from './use-check.ts'

type Props = {
  text: string
  problems: readonly DraftProblem[]
  outline: readonly RuleOutline[]
  readOnly: boolean
  onWrite: (text: string) => void
  /** The rule that the cursor stands in. */
  onRule: (name: string) => void
}

/** The text itself, with the mistakes at their lines. The rule under the cursor is the one shown beside it. */
export function TextView({ text, problems, outline, readOnly, onWrite, onRule }: Props) {
  const errors = useMemo(
    () =>
      problems.map(problem => ({
        line: problem.line,
        ...markOf(problem, text),
        message: problemText(problem),
        kind: problem.kind,
      })),
    [problems, text],
  )
  const box = useRef<HTMLDivElement>(null)
  /** Through the browser's own editing, so that undo takes it back. */
  const insert = (words: string) => {
    const area = box.current?.querySelector('textarea')
    if (!area) return
    area.focus()
    if (document.execCommand('insertText', false, words)) return
    area.setRangeText(words, area.selectionStart, area.selectionEnd, 'end')
    onWrite(area.value)
  }
  return (
    <div
      ref={box}
      onSelect={event => {
        if (!(event.target instanceof HTMLTextAreaElement)) return
        const line = event.target.value.slice(0, event.target.selectionStart).split('\n').length
        const name = ruleAtLine(outline, line)
        if (name !== undefined) onRule(name)
      }}
    >
      <CodeEditor
        label="Rule set, YAML"
        value={text}
        onChange={onWrite}
        errors={errors}
        suggest={completeRules}
        readOnly={readOnly}
      />
      <SchemaHelp {...(readOnly ? {} : { onInsert: insert })} />
    </div>
  )
}

/** Where a problem is underlined: its own columns, or its line's words where it has none (what the server found). */
function markOf(problem: DraftProblem, text: string): { column: number; endColumn?: number } {
  if (problem.endLine === problem.line) return { column: problem.column, endColumn: problem.endColumn }
  if (problem.endLine !== undefined) return { column: problem.column }
  const line = text.split('\n')[problem.line - 1] ?? ''
  return { column: line.length - line.trimStart().length + 1, endColumn: line.trimEnd().length + 1 }
}

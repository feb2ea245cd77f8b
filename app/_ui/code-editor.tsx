'use client'

import { CircleAlert } from 'lucide-react'
import { type KeyboardEvent, useId, useMemo, useRef } from 'react'
import { cn } from './class-names.ts'
import type { CodeError } from './code-error.ts'
import { CodeLines } from './code-lines.tsx'
import { formatPlural } from './format.ts'
import { type Edit, indentEdit, newlineEdit, outdentEdit } from './indent.ts'
import { Pill } from './pill.tsx'
import type { Suggest } from './suggestion.ts'
import { optionId, SuggestionList } from './suggestion-list.tsx'
import { useSuggestions } from './use-suggestions.ts'

type Props = {
  /** The accessible name: "Rule set, YAML". */
  label: string
  value: string
  onChange?: (value: string) => void
  errors?: readonly CodeError[]
  /** What could stand at the cursor. Pure and quick: asked at every key. */
  suggest?: Suggest
  readOnly?: boolean
  name?: string
  /** Height in lines at least and at most; beyond it the box scrolls. */
  minLines?: 6 | 12 | 20
  className?: string
}

const MIN_HEIGHT = { 6: 'min-h-[7.875rem]', 12: 'min-h-[15.75rem]', 20: 'min-h-[26.25rem]' }

/**
 * A YAML editor: a real text box lies, with clear ink, over the coloured lines. Tab indents; Escape then Tab leaves.
 * Faults are marked in their line, listed beneath, and read out with the box; what could be written is suggested in a list.
 */
export function CodeEditor(props: Props) {
  const { label, value, onChange, errors = [], suggest, readOnly, name, minLines = 12, className } = props
  const id = useId()
  const box = useRef<HTMLTextAreaElement>(null)
  const leaving = useRef(false)
  const faults = useMemo(() => errors.toSorted((a, b) => a.line - b.line), [errors])

  const suggestions = useSuggestions(readOnly ? undefined : suggest, ({ from, to }, { insert, back = 0, select }) => {
    const end = from + insert.length - back
    // Of a value in quotes only the value is selected, to be written over.
    const [selectStart, selectEnd] = select === undefined ? [end, end] : [end - 1 - select, end - 1]
    if (box.current) applyEdit(box.current, { start: from, end: to, insert, selectStart, selectEnd }, onChange)
  })
  const { shown } = suggestions
  const listId = `${id}-list`

  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (readOnly || event.nativeEvent.isComposing) return
    if (suggestions.onKeyDown(event)) {
      event.preventDefault()
      return
    }
    if (event.key === 'Escape') {
      leaving.current = true
      return
    }
    const { selectionStart: start, selectionEnd: end } = event.currentTarget
    const plain = !event.ctrlKey && !event.metaKey && !event.altKey
    if (event.key === 'Tab' && plain && !leaving.current) {
      event.preventDefault()
      applyEdit(
        event.currentTarget,
        event.shiftKey ? outdentEdit(value, start, end) : indentEdit(value, start, end),
        onChange,
      )
    } else if (event.key === 'Enter' && plain && !event.shiftKey) {
      event.preventDefault()
      applyEdit(event.currentTarget, newlineEdit(value, start, end), onChange)
    }
    if (event.key !== 'Shift') leaving.current = false
  }

  const goTo = (fault: CodeError) => {
    const lines = value.split('\n')
    const start = lines.slice(0, fault.line - 1).reduce((sum, line) => sum + line.length + 1, 0)
    const from = start + Math.max(0, (fault.column ?? 1) - 1)
    const to = fault.endColumn ? start + fault.endColumn - 1 : start + (lines[fault.line - 1]?.length ?? 0)
    box.current?.focus()
    box.current?.setSelectionRange(from, Math.max(from, to))
    document.getElementById(`${id}-line-${fault.line}`)?.scrollIntoView({ block: 'nearest' })
  }

  const errorCount = faults.filter(fault => fault.kind !== 'warning').length
  return (
    <div className={cn('min-w-0', className)}>
      {/* The ring lies over the box, because the line numbers stick above its edge. */}
      <div className="relative after:pointer-events-none after:absolute after:inset-0 after:z-2 has-focus-visible:after:outline-2 has-focus-visible:after:-outline-offset-2 has-focus-visible:after:outline-accent">
        <div className="max-h-[70vh] overflow-auto py-3">
          <div className={cn('relative min-w-max font-mono text-code', MIN_HEIGHT[minLines])}>
            <CodeLines text={value} faults={faults} idPrefix={id} />
            <textarea
              ref={box}
              name={name}
              aria-label={label}
              aria-invalid={errorCount > 0 || undefined}
              aria-describedby={`${id}-faults ${id}-keys`}
              value={value}
              readOnly={readOnly}
              aria-autocomplete={suggest ? 'list' : undefined}
              aria-controls={shown ? listId : undefined}
              aria-activedescendant={shown?.active === undefined ? undefined : optionId(listId, shown.active)}
              onChange={event => {
                onChange?.(event.target.value)
                if (goesOn(event.nativeEvent)) suggestions.look(event.target)
                else suggestions.close()
              }}
              onKeyDown={onKeyDown}
              onSelect={event => suggestions.onSelect(event.currentTarget)}
              onBlur={suggestions.close}
              onFocus={() => {
                leaving.current = false
              }}
              wrap="off"
              spellCheck={false}
              autoCapitalize="off"
              autoComplete="off"
              autoCorrect="off"
              className="code-ink absolute inset-0 block h-full w-full resize-none overflow-hidden whitespace-pre border-0 bg-transparent p-0 pl-14 outline-0 [tab-size:2]"
            />
          </div>
        </div>
      </div>
      <div id={`${id}-faults`}>
        {faults.length > 0 && <p className="sr-only">{formatPlural(faults.length, 'problem')}:</p>}
        {faults.map(fault => (
          <div
            key={`${fault.line}:${fault.column}:${String(fault.message)}`}
            className="flex items-start gap-2.5 border-t px-4 py-2 text-ink-2 text-sm"
          >
            <button type="button" onClick={() => goTo(fault)} className="mt-px rounded-full" title="Go to this line">
              <Pill state={fault.kind === 'warning' ? 'waiting' : 'held'} icon={<CircleAlert aria-hidden />}>
                Line {fault.line}
              </Pill>
            </button>
            <span className="min-w-0 flex-1">{fault.message}</span>
          </div>
        ))}
      </div>
      {!readOnly && (
        <p id={`${id}-keys`} className="border-t px-4 py-1.5 text-ink-3 text-xs">
          {suggest && 'Suggestions come as you type; Ctrl+Space asks for them, Tab takes one. '}
          Tab indents. To leave by keyboard press Escape, then Tab.
        </p>
      )}
      {shown && (
        <SuggestionList
          id={listId}
          found={shown}
          active={shown.active}
          place={() => wordPlace(`${id}-line-`, value, shown.from)}
          onTake={index => box.current && suggestions.take(box.current, index)}
        />
      )}
      <span role="status" className="sr-only">
        {shown && `${formatPlural(shown.items.length, 'suggestion')}, Down to choose`}
      </span>
      <span role="status" className="sr-only">
        {faults.length > 0 ? `${formatPlural(faults.length, 'problem')}, first in line ${faults[0]?.line}` : ''}
      </span>
    </div>
  )
}

/** Through the browser's own editing where it can, so that undo keeps working. */
function applyEdit(box: HTMLTextAreaElement, edit: Edit, onChange?: (value: string) => void) {
  box.setSelectionRange(edit.start, edit.end)
  const done =
    edit.insert === '' ? document.execCommand('delete') : document.execCommand('insertText', false, edit.insert)
  if (!done) {
    box.setRangeText(edit.insert, edit.start, edit.end, 'end')
    onChange?.(box.value)
  }
  box.setSelectionRange(edit.selectStart, edit.selectEnd)
}

/** Whether a change of the text is somebody writing on, one key after another. */
function goesOn(event: Event): boolean {
  const { inputType, data } = event as InputEvent
  return inputType === 'deleteContentBackward' || (inputType === 'insertText' && data?.length === 1)
}

/** Where on the screen a place of the text stands, measured in the coloured lines; undefined when it is scrolled away. */
function wordPlace(lineIdPrefix: string, text: string, at: number): DOMRect | undefined {
  const before = text.slice(0, at).split('\n')
  const line = document.getElementById(`${lineIdPrefix}${before.length}`)
  const words = line?.lastElementChild
  const frame = line?.closest('.overflow-auto')?.getBoundingClientRect()
  if (!line || !words || !frame) return undefined
  const range = document.createRange()
  range.selectNodeContents(words)
  let left = at - (text.lastIndexOf('\n', at - 1) + 1)
  const walker = document.createTreeWalker(words, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const { length } = node as Text
    if (left <= length) {
      range.setStart(node, left)
      break
    }
    left -= length
  }
  range.collapse(true)
  const place = range.getClientRects()[0] ?? words.getBoundingClientRect()
  const { top, bottom } = line.getBoundingClientRect()
  return bottom <= frame.top || top >= frame.bottom ? undefined : new DOMRect(place.left, top, 0, bottom - top)
}

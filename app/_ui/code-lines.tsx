import { useMemo } from 'react'
import { cn } from './class-names.ts'
import type { CodeError } from './code-error.ts'
import { colourYaml, cutTokens, type YamlKind, type YamlToken } from './yaml-colours.ts'

const COLOUR: Record<YamlKind, string> = {
  plain: '',
  key: 'text-accent',
  string: 'text-ink-2',
  comment: 'text-ink-3 italic',
  sign: 'text-ink-3',
}

type Props = { text: string; faults?: readonly CodeError[]; idPrefix?: string }

/** Numbered, coloured lines of YAML; hidden from screen readers, which read the text box over it. */
export function CodeLines({ text, faults = [], idPrefix }: Props) {
  const lines = useMemo(() => colourYaml(text), [text])
  return (
    <div aria-hidden className="code-under [tab-size:2]">
      {lines.map((tokens, index) => {
        const number = index + 1
        const fault = faults.find(candidate => candidate.line === number)
        const warning = fault?.kind === 'warning'
        return (
          <div
            // biome-ignore lint/suspicious/noArrayIndexKey: a line is its number
            key={index}
            id={idPrefix && `${idPrefix}-line-${number}`}
            className={cn('flex min-h-5.25 whitespace-pre', fault && (warning ? 'bg-waiting-soft' : 'bg-held-soft'))}
          >
            <span
              className={cn(
                'sticky left-0 z-1 w-14 shrink-0 select-none bg-panel pr-3.5 text-right text-ink-3',
                fault && (warning ? 'bg-waiting-soft text-waiting' : 'bg-held-soft text-held'),
              )}
            >
              {number}
            </span>
            <span className="pr-4">
              {markFault(tokens, fault).map((token, position) => (
                <span
                  // biome-ignore lint/suspicious/noArrayIndexKey: a token is its place
                  key={position}
                  className={cn(
                    COLOUR[token.kind],
                    token.marked && 'underline decoration-wavy decoration-from-font underline-offset-4',
                    token.marked && (warning ? 'decoration-waiting' : 'decoration-held'),
                  )}
                >
                  {token.text}
                </span>
              ))}
            </span>
          </div>
        )
      })}
    </div>
  )
}

function markFault(tokens: readonly YamlToken[], fault?: CodeError) {
  if (!fault?.column) return tokens.map(token => ({ ...token, marked: false }))
  const from = fault.column - 1
  return cutTokens(tokens, from, fault.endColumn ? fault.endColumn - 1 : endOfWord(tokens, from))
}

function endOfWord(tokens: readonly YamlToken[], from: number): number {
  const line = tokens.map(token => token.text).join('')
  const length = line.slice(from).search(/[\s:,{}[\]]/)
  return length > 0 ? from + length : line.length
}

import { UnfoldVertical } from 'lucide-react'
import { cn } from './class-names.ts'
import { formatPlural } from './format.ts'
import { type DiffLine, diffLines, foldDiff } from './line-diff.ts'

type Props = {
  before: string
  after: string
  /** Names the two: "version 12 and the draft". */
  label: string
  /** Unchanged lines kept around a change. */
  context?: number
  /** Said when the two are alike. */
  alike?: string
}

/** What changed between two texts, line by line; unchanged stretches are folded and open without script. */
export function DiffView({ before, after, label, context = 3, alike = 'Nothing differs.' }: Props) {
  const lines = diffLines(before, after)
  const added = lines.filter(line => line.kind === 'added').length
  const removed = lines.filter(line => line.kind === 'removed').length
  if (added + removed === 0) return <p className="px-4 py-3 text-ink-2">{alike}</p>
  return (
    <section aria-label={`Changes between ${label}`}>
      <p className="border-b px-4 py-2 text-ink-3 text-xs">
        {added > 0 && (
          <>
            <span className="text-passed">+{formatPlural(added, 'line')}</span> added
          </>
        )}
        {added > 0 && removed > 0 && ', '}
        {removed > 0 && (
          <>
            <span className="text-held">−{formatPlural(removed, 'line')}</span> removed
          </>
        )}
      </p>
      <section
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
        tabIndex={0}
        aria-label={`Lines of ${label}`}
        className="overflow-x-auto py-2 font-mono text-code -outline-offset-2"
      >
        <div className="min-w-max">
          {foldDiff(lines, context).map(block =>
            block.kind === 'lines' ? (
              <Lines key={keyOf(block.lines)} lines={block.lines} />
            ) : (
              <details key={keyOf(block.lines)} className="group">
                <summary className="flex list-none items-center gap-2 bg-raised py-0.5 pl-3.5 font-sans text-ink-3 text-xs hover:text-ink">
                  <UnfoldVertical aria-hidden className="size-3.5" />
                  <span className="group-open:hidden">Show {formatPlural(block.lines.length, 'unchanged line')}</span>
                  <span className="hidden group-open:inline">
                    Hide {formatPlural(block.lines.length, 'unchanged line')}
                  </span>
                </summary>
                <Lines lines={block.lines} />
              </details>
            ),
          )}
        </div>
      </section>
    </section>
  )
}

const keyOf = (lines: readonly DiffLine[]) => `${lines[0]?.before ?? ''}:${lines[0]?.after ?? ''}`

const ROW = { same: '', added: 'bg-passed-soft', removed: 'bg-held-soft' }
const SIGN = { same: ' ', added: '+', removed: '−' }
const SIGN_COLOUR = { same: '', added: 'text-passed', removed: 'text-held' }
const SAID = { same: '', added: 'added: ', removed: 'removed: ' }

function Lines({ lines }: { lines: readonly DiffLine[] }) {
  return lines.map(line => {
    const Text = line.kind === 'added' ? 'ins' : line.kind === 'removed' ? 'del' : 'span'
    return (
      <div key={`${line.before}:${line.after}`} className={cn('flex whitespace-pre', ROW[line.kind])}>
        <span aria-hidden className="w-8 shrink-0 select-none text-right text-ink-3">
          {line.before}
        </span>
        <span aria-hidden className="w-8 shrink-0 select-none text-right text-ink-3">
          {line.after}
        </span>
        <span aria-hidden className={cn('w-7 shrink-0 select-none text-center font-semibold', SIGN_COLOUR[line.kind])}>
          {SIGN[line.kind]}
        </span>
        <span className="sr-only">{SAID[line.kind]}</span>
        <Text className="pr-4 no-underline">{line.text}</Text>
      </div>
    )
  })
}

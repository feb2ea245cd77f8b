import { ChevronRight } from 'lucide-react'
import type { ReactNode } from 'react'
import { RULE_KEYS } from '#core/boundary/read-rule.ts'
import { ACTIONS, CONDITION_ACTIONS } from '#core/boundary/shape.ts'
import { FIGURE_NAMES, type FigureName } from '#core/figure.ts'
import { startingValue } from './rule-words.ts'
import { ACTION_HELP, FIGURE_HELP, RULE_KEY_HELP } from './schema-words.ts'

/** What can stand in a rule, from the same tables that the parser reads. */
export function SchemaHelp({ onInsert }: { onInsert?: (text: string) => void }) {
  return (
    <details className="group border-t">
      <summary className="flex min-h-10 list-none items-center gap-2 px-4 text-sm -outline-offset-2 hover:bg-raised">
        <ChevronRight aria-hidden className="size-4 text-ink-3 group-open:rotate-90" />
        What can stand here: keys, actions, conditions
      </summary>
      <div className="grid gap-4 px-4 pt-1 pb-4 text-sm">
        <Terms title="Keys of a rule">
          {RULE_KEYS.map(key => (
            <Term key={key} word={key} insert={`${key}: `} onInsert={onInsert}>
              {RULE_KEY_HELP[key].takes}. {RULE_KEY_HELP[key].help}
            </Term>
          ))}
        </Terms>
        <Terms title="Actions">
          {ACTIONS.map(action => (
            <Term key={action} word={action} insert={action} onInsert={onInsert}>
              {ACTION_HELP[action]}
            </Term>
          ))}
        </Terms>
        <Terms title="Conditions">
          {FIGURE_NAMES.map(figure => (
            <Term key={figure} word={figure} insert={conditionText(figure)} onInsert={onInsert}>
              {FIGURE_HELP[figure]} <span className="text-ink-3">For {CONDITION_ACTIONS[figure].join(', ')}.</span>
            </Term>
          ))}
        </Terms>
        <p className="text-ink-2">
          Each condition is a comparison in quotes: <code>{'">= 20"'}</code>. Comparators: <code>{'< <= > >= =='}</code>
          . Cases stand under <code>tests:</code> with <code>action</code>, <code>figures</code> and <code>expect</code>
          .
        </p>
      </div>
    </details>
  )
}

function Terms({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section>
      <h3 className="mb-1 font-medium text-ink-3 text-xs">{title}</h3>
      <dl className="grid gap-y-1 sm:grid-cols-[9.5rem_1fr] sm:gap-x-3">{children}</dl>
    </section>
  )
}

type TermProps = { word: string; insert: string; onInsert?: (text: string) => void; children: ReactNode }

function Term({ word, insert, onInsert, children }: TermProps) {
  return (
    <>
      <dt>
        {onInsert ? (
          <button
            type="button"
            title="Put it in at the cursor"
            onClick={() => onInsert(insert)}
            className="rounded-sm text-left text-accent hover:underline"
          >
            <code>{word}</code>
            <span className="sr-only">: put it in at the cursor</span>
          </button>
        ) : (
          <code>{word}</code>
        )}
      </dt>
      <dd className="text-ink-2 max-sm:mb-1">{children}</dd>
    </>
  )
}

/** `session_cost_usd: ">= 20"`: a condition to be changed. */
function conditionText(figure: FigureName): string {
  const { op, value } = startingValue(figure)
  return `${figure}: "${op} ${value}"`
}

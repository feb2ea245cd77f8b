import { Button } from '#app/_ui/button.tsx'
import { Card } from '#app/_ui/card.tsx'
import { cn } from '#app/_ui/class-names.ts'
import { formatList } from '#app/_ui/format.ts'
import { Pill } from '#app/_ui/pill.tsx'
import { PRICE_AXES } from '#core/pricing.ts'
import type { OwnPrices } from '../../outputs.ts'
import { AXIS_NAMES, priceText, providerName } from './words.ts'

/** What a model without a price counts as, and by whose prices. */
export function PolicyCard({ org, own, mayEdit }: { org: string; own: OwnPrices; mayEdit: boolean }) {
  const { unpriced, bound } = own
  const how = unpriced.on_unpriced_model
  const isBound = how === 'max_rate'
  return (
    <Card
      title="When a model has no price"
      sub={unpriced.isDefault ? 'the default' : 'your setting'}
      aside={
        mayEdit && (
          <Button size="sm" href={`/${org}/spend/edit-unpriced`}>
            Change
          </Button>
        )
      }
    >
      <div className={cn('px-4 py-3 text-ink-2', isBound && 'border-b')}>
        {isBound ? (
          <p>
            It counts at the dearest price there is, kind by kind, among the chat models of{' '}
            {formatList(unpriced.providers.map(providerName))}. Budgets and caps then hold rather than let go.
          </p>
        ) : how === 'zero' ? (
          <p className="flex flex-wrap items-baseline gap-x-2">
            <Pill state="waiting">weaker than the default</Pill>
            It counts as nothing: no budget and no cap sees it.
          </p>
        ) : (
          <p>
            It counts at the prices of <code>{how}</code>. That may be too little: no bound is promised.
          </p>
        )}
      </div>
      {isBound && (
        <dl className="grid grid-cols-2 gap-x-4 gap-y-3 px-4 py-3 sm:grid-cols-3 lg:grid-cols-6">
          {PRICE_AXES.map(axis => (
            <div key={axis} className="min-w-0">
              <dt className="text-ink-3 text-xs">{AXIS_NAMES[axis]}</dt>
              <dd>
                <div className="tabular-nums">{priceText(bound.prices[axis])}</div>
                <code className="text-ink-3 text-xs [overflow-wrap:anywhere]">{bound.setBy[axis]}</code>
              </dd>
            </div>
          ))}
        </dl>
      )}
    </Card>
  )
}

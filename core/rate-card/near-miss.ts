import { nearest } from '#core/boundary/problem.ts'
import { formsOf, type Rates } from '#core/pricing.ts'

const flat = (id: string): string => id.toLowerCase().replace(/[^a-z0-9]+/g, '-')
const parts = (id: string): string => flat(id).split('-').sort().join('-')
const digits = (id: string): string => id.replace(/\D/g, '')

/**
 * The id on the card that an unknown id is most likely a slip for: another punctuation (`claude-opus-4.1`), the same parts in
 * another order, or a slip in the letters. Numbers must be the same, because another number is another model. It is only ever
 * said ("did you mean"), never priced by.
 */
export function nearMiss(rates: Rates, model: string): string | undefined {
  const known = [...rates.byId.keys()]
  const { ids } = formsOf(model)
  for (const alike of [flat, parts])
    for (const id of ids) {
      const found = known.find(k => alike(k) === alike(id))
      if (found !== undefined) return found
    }
  for (const id of ids) {
    const found = nearest(
      id,
      known.filter(k => digits(k) === digits(id) && Math.abs(k.length - id.length) <= 2),
    )
    if (found !== undefined) return found
  }
  return undefined
}

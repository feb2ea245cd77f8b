import { ROUTE_MODEL } from '#core/approval/request.ts'
import { findPriced } from '#core/pricing.ts'
import { builtInRates } from '#core/rate-card/built-in.ts'
import type { HeldSubject } from './subject.ts'

let card: ReturnType<typeof builtInRates> | undefined

/** A subject as it may leave the machine: a model that no list here knows is told as unknown. */
export function wireSubject(subject: HeldSubject): HeldSubject {
  if (subject.kind !== 'route') return subject
  const { provider, from, to } = subject
  return { kind: 'route', provider, from: listedModel(from), to: listedModel(to) }
}

function listedModel(model: string): string {
  card ??= builtInRates()
  const found = findPriced(card, model)
  if (found === undefined) return 'unknown'
  return [model, found.id].find(id => ROUTE_MODEL.test(id)) ?? 'unknown'
}

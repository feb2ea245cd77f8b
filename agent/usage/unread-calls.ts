import type { UsageRecord } from '#agent/clients/usage-source.ts'
import type { Session } from '#agent/daemon/session.ts'
import { priceCall } from '#core/pricing.ts'
import { areSound } from '#core/usage/bucket.ts'
import type { Ledger } from './ledger.ts'
import { coverOfCall, type Meter } from './meter.ts'

/**
 * Calls that a look at a session has shown and that the ledger does not have yet: what was spent since budgets were counted. By
 * the same keys, so that no call is in both.
 */
export class UnreadCalls {
  private readonly bySession = new Map<Session, Map<string, { record: UsageRecord; pico?: bigint }>>()

  constructor(private readonly ledger: Ledger) {}

  /** A call that the ledger has already is in the count. */
  note(session: Session, records: readonly UsageRecord[]): void {
    const calls = this.bySession.get(session) ?? new Map<string, { record: UsageRecord }>()
    for (const record of records)
      if (areSound(record.tokens) && !this.ledger.has(session.client, record)) calls.set(record.key, { record })
    if (calls.size > 0) this.bySession.set(session, calls)
  }

  sessions(): Session[] {
    return [...this.bySession.keys()]
  }

  /** Pico-dollars at list price, bounds included; and what of it is known to be paid for by the call. */
  spentBy(session: Session, { rates, ...by }: Meter): { pico: bigint; metered: bigint } {
    const sum = { pico: 0n, metered: 0n }
    for (const call of this.bySession.get(session)?.values() ?? []) {
      call.pico ??= priceCall(rates, call.record).picoUsd
      sum.pico += call.pico
      if (coverOfCall({ ...call.record, place: session }, by).covered === 'metered') sum.metered += call.pico
    }
    return sum
  }

  /** Forgets what the ledger has by now; right after it was counted, and not before. */
  forget(): void {
    for (const [session, calls] of this.bySession) {
      for (const [key, { record }] of calls) if (this.ledger.has(session.client, record)) calls.delete(key)
      if (calls.size === 0) this.bySession.delete(session)
    }
  }
}

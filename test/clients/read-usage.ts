/** What the connector's own collector makes of the records that a client has left on a bench. */
import { join } from 'node:path'
import type { UsageSource } from '#agent/clients/usage-source.ts'
import { openHome } from '#agent/home.ts'
import { Attributor } from '#agent/usage/attribute.ts'
import { Collector } from '#agent/usage/collect.ts'
import { Ledger, type LedgerCall, ledgerDays, readLedgerDay } from '#agent/usage/ledger.ts'
import { Marks } from '#agent/usage/marks.ts'
import type { SeenPlan } from '#core/plan-window.ts'
import { NO_TOKENS, type UsageTokens } from '#core/pricing.ts'
import type { Bench, StubRequest } from './bench.ts'

export type ReadUsage = { calls: LedgerCall[]; problems: number; plans: SeenPlan[] }

/** Reads on in the bench's ledger as a daemon does after a restart. */
export async function readUsage(
  bench: Pick<Bench, 'dir' | 'home'>,
  source: unknown,
  env: Record<string, string> = {},
  now: () => number = Date.now,
): Promise<ReadUsage> {
  const home = openHome(join(bench.dir, 'holdpoint'))
  const ledger = new Ledger(home, now)
  const marks = new Marks(home)
  const plans: SeenPlan[] = []
  const collector = new Collector({
    sources: [source as UsageSource],
    clientHome: { homeDir: bench.home, env },
    ledger,
    marks: () => marks,
    attributor: new Attributor(),
    now,
    onPlan: plan => plans.push(plan),
    knownSession: () => undefined,
  })
  await collector.run()
  const calls: LedgerCall[] = []
  for (const day of ledgerDays(home)) calls.push(...(await readLedgerDay(home, day)))
  return { calls, problems: collector.progress.problems, plans }
}

type Served = NonNullable<StubRequest['served']>
export const servedIn = (requests: StubRequest[]): Served[] => requests.flatMap(({ served }) => served ?? [])

/** Tokens as counts of an axis each that is not 0, in one text: to compare calls that bear no id of the provider's. */
export const axes = (tokens: Partial<UsageTokens>): string =>
  Object.entries({ ...NO_TOKENS, ...tokens })
    .filter(([, n]) => n !== 0)
    .map(([axis, n]) => `${axis} ${n}`)
    .join(', ')

import type { EvidenceEntry, EvidenceKind } from '#core/evidence/entry.ts'
import type { Json } from '#core/json.ts'
import type { FeatureContext } from './context.ts'
import { figuresSeenIn } from './spend/grant.ts'
import type { Seen } from './spend/sums.ts'

/** Members of entries about a machine that say what it has spent. */
const FIGURES: Partial<Record<EvidenceKind, readonly string[]>> = {
  'usage.lowered': ['old', 'new', 'oldCalls', 'newCalls'],
  'usage.repriced': ['old', 'new'],
  'budget.reservation_overrun': ['reserved', 'spent'],
}

/** Which machine's budget a step was reached of; undefined for budgets that are no machine's. */
function machineOf({ of }: EvidenceEntry['data']): string | undefined {
  const machine = typeof of === 'object' && of !== null && !Array.isArray(of) ? of.machine : undefined
  return typeof machine === 'string' ? machine : undefined
}

/**
 * What a reader sees of entries: those about a machine without what it spent, where the reader does not see its member's own
 * figures. The ledger keeps them, and no role opens them here.
 */
export async function figuresFilter(
  ctx: FeatureContext,
  entries: readonly EvidenceEntry[],
): Promise<(entry: EvidenceEntry) => { [key: string]: Json }> {
  const ids = entries.flatMap(({ kind, subject, data }) =>
    kind in FIGURES ? (subject?.ref ?? []) : (machineOf(data) ?? []),
  )
  const { actor } = ctx
  const seen: Seen =
    actor.kind === 'system'
      ? 'everybody'
      : actor.kind === 'member' && ids.length > 0
        ? await figuresSeenIn({ ...ctx, actor })
        : new Set()
  const machines =
    ids.length === 0 || seen === 'everybody'
      ? []
      : await ctx.db.machine.findMany({
          where: { orgId: actor.orgId, id: { in: [...new Set(ids)] } },
          select: { id: true, memberId: true },
        })
  const isSeen = (machine: string | undefined) =>
    seen === 'everybody' || machines.some(({ id, memberId }) => id === machine && seen.has(memberId))
  return ({ kind, subject, data }) => {
    const figures = FIGURES[kind] ?? (machineOf(data) === undefined ? [] : ['of'])
    if (figures.length === 0 || isSeen(FIGURES[kind] ? subject?.ref : machineOf(data))) return data
    return Object.fromEntries(Object.entries(data).filter(([key]) => !figures.includes(key)))
  }
}

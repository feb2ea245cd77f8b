import { z } from 'zod'
import { BOUNDARIES_TEXT_MAX, NOTE_MAX } from '#core/limits.ts'
import { checkBoundaries, previewBoundaries } from '../../features/boundary.ts'
import { publishRuleSet, rollBackRuleSet } from '../../features/rule-set.ts'
import { currentRuleSet, ruleSetHistory, ruleSetVersion } from '../../features/rule-set-history.ts'
import { inOrg, router } from '../trpc.ts'

/** Longer ones are refused by the feature with words of its own; this bounds what is parsed at all. */
const text = z.string().max(4 * BOUNDARIES_TEXT_MAX)
const note = z.string().max(4 * NOTE_MAX)
const etag = z.string().max(80)
const version = z.number().int().min(1)

export const boundaryRouter = router({
  current: inOrg.query(({ ctx }) => currentRuleSet(ctx.feature)),
  check: inOrg.input(z.object({ text })).query(({ ctx, input }) => checkBoundaries(ctx.feature, input)),
  preview: inOrg
    .input(z.object({ text }))
    .query(async ({ ctx, input }) => (await previewBoundaries(ctx.feature, input)).rules),
  publish: inOrg.input(z.object({ text, note, etag })).mutation(({ ctx, input }) => publishRuleSet(ctx.feature, input)),
  history: inOrg
    .input(z.object({ cursor: version.optional() }))
    .query(({ ctx, input }) => ruleSetHistory(ctx.feature, input)),
  version: inOrg.input(z.object({ version })).query(({ ctx, input }) => ruleSetVersion(ctx.feature, input)),
  rollBack: inOrg
    .input(z.object({ version, note, etag }))
    .mutation(({ ctx, input }) => rollBackRuleSet(ctx.feature, input)),
})

import type { MemberActor } from '#core/actor.ts'
import { AppError } from '#core/error.ts'
import { demand } from '#core/permission.ts'
import { applySpendEdit, type SpendEdit } from '#core/rules/spend-edit.ts'
import type { FeatureContext } from '../context.ts'
import { etagOf, newestRuleSet, type Published, publishRuleSet } from '../rule-set.ts'

/**
 * Makes one edit of prices, tags, attribution rules or renames in the document in force and publishes it: comments and
 * everything else stay as they are.
 * @throws AppError as publishRuleSet does; BAD_INPUT for an edit that is itself wrong or cannot be made in this text
 */
export async function editSpendRules(
  ctx: FeatureContext<MemberActor>,
  { edit, note, etag }: { edit: SpendEdit; note: string; etag: string },
): Promise<Published> {
  demand(ctx.actor, 'boundary.publish')
  const newest = await newestRuleSet(ctx.db, ctx.actor.orgId)
  const text = newest?.text ?? ''
  // Against another version than was seen: refused with the other change, before anything is made of the edit.
  if (etag !== etagOf(newest)) return publishRuleSet(ctx, { text, note, etag })
  const edited = applySpendEdit(text, edit)
  if (edited.ok) return publishRuleSet(ctx, { text: edited.text, note, etag })
  throw new AppError('BAD_INPUT', `${edited.message.charAt(0).toUpperCase()}${edited.message.slice(1)}.`, {
    remedy: edited.reason === 'mistake' ? edited.remedy : 'Change it in the text of the rules.',
    details: { why: edited.reason },
  })
}

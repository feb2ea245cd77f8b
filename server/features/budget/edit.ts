import type { MemberActor } from '#core/actor.ts'
import { Findings } from '#core/boundary/problem.ts'
import { treeFromJson } from '#core/boundary/tree.ts'
import { AppError } from '#core/error.ts'
import { demand } from '#core/permission.ts'
import { removeBudget, upsertBudget } from '#core/rules/edit.ts'
import { readBudget } from '#core/rules/read-budget.ts'
import { budgetDefaults } from '../boundary.ts'
import { type FeatureContext, notFound } from '../context.ts'
import { newestRuleSet, type Published, publishRuleSet } from '../rule-set.ts'
import { budgetsInForce } from './in-force.ts'

/** What a form says of a budget: the document's own keys and words. Everything about it is checked as in the document. */
export type BudgetForm = Readonly<Record<string, unknown>>
type Ctx = FeatureContext<MemberActor>
type Publication = { note: string; etag: string }

/**
 * Writes one budget into the document in force and publishes it: comments and everything else stay as they are. `name` is the
 * budget that is changed, when it has another name from now on; without one of its name it is added.
 * @throws AppError as publishRuleSet does; BAD_INPUT with `errors` for what the budget itself gets wrong
 */
export async function saveBudget(
  ctx: Ctx,
  input: Publication & { name?: string; budget: BudgetForm },
): Promise<Published> {
  demand(ctx.actor, 'boundary.publish')
  const defaults = await budgetDefaults(ctx.db, ctx.actor.orgId)
  const findings = new Findings()
  const tree = treeFromJson(input.budget)
  const { exchange } = await budgetsInForce(ctx.db, ctx.actor.orgId)
  const budget = tree && readBudget(tree, { defaults, currencies: ['USD', ...exchange.keys()] }, findings)
  if (!budget) {
    const errors = findings.errors.map(({ code, message, remedy }) => ({ code, message, remedy }))
    const [first] = errors
    throw new AppError('BAD_INPUT', first ? `${upperFirst(first.message)}.` : 'That is no budget.', {
      ...(first ? { remedy: first.remedy } : {}),
      details: { errors },
    })
  }
  const text = await textInForce(ctx)
  const edited = upsertBudget(text, budget, {
    defaults,
    ...(input.name === undefined ? {} : { previousName: input.name }),
  })
  return publishEdit(ctx, input, edited)
}

/** Removes a budget from the document in force and publishes it. What was told of it, and its reservations, stay on record. */
export async function dropBudget(ctx: Ctx, input: Publication & { name: string }): Promise<Published> {
  demand(ctx.actor, 'boundary.publish')
  return publishEdit(ctx, input, removeBudget(await textInForce(ctx), input.name))
}

const textInForce = async (ctx: Ctx): Promise<string> => (await newestRuleSet(ctx.db, ctx.actor.orgId))?.text ?? ''

function publishEdit(
  ctx: Ctx,
  { note, etag }: Publication,
  edited: ReturnType<typeof removeBudget>,
): Promise<Published> {
  if (edited.ok) return publishRuleSet(ctx, { text: edited.text, note, etag })
  if (edited.reason === 'no_such_entry') throw notFound('budget')
  throw new AppError('BAD_INPUT', `${upperFirst(edited.message)}.`, {
    remedy: 'Change it in the text of the rules.',
    details: { why: edited.reason },
  })
}

const upperFirst = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

import { stepsReached } from '#core/budget/use.ts'
import { formatDecimal } from '#core/decimal.ts'
import { type Role, roleAtLeast } from '#core/role.ts'
import type { Tx } from '../../db.ts'
import { env } from '../../env.ts'
import { mailTime, messageId } from '../../jobs/mail-letter.ts'
import { enqueue } from '../../jobs/queue.ts'
import type { FeatureContext } from '../context.ts'
import { recordEvidence } from '../evidence.ts'
import { type Count, personsIn } from './use.ts'

type Ctx = Pick<FeatureContext, 'now' | 'random'>
type Reached = { count: Count; steps: number[] }

/**
 * Records the steps that counts have reached, each once for its budget, value and window, and queues the mail about them in the
 * same transaction: whoever is second finds the step there and queues nothing. Several steps reached at once are one mail.
 */
export async function tellSteps(tx: Tx, ctx: Ctx, orgId: string, counts: readonly Count[]): Promise<void> {
  const wanted = counts.flatMap(count =>
    stepsReached(count, count.budget.steps).map(step => ({
      budget: count.budget.name,
      value: count.value,
      windowId: count.window.id,
      step,
      used: formatDecimal(count.used),
      amount: formatDecimal(count.limit),
    })),
  )
  if (wanted.length === 0) return
  const fresh = await tx.$queryRaw<{ budget: string; value: string; windowId: string; step: number }[]>`
    insert into "BudgetStep" ("orgId", budget, value, "windowId", step, "reachedAt", used, amount)
    select ${orgId}, r.budget, r.value, r."windowId", r.step, ${ctx.now}::timestamptz, r.used, r.amount
    from jsonb_to_recordset(${JSON.stringify(wanted)}::jsonb)
      as r(budget text, value text, "windowId" text, step int, used numeric, amount numeric)
    on conflict do nothing returning budget, value, "windowId", step`
  const reached = counts.flatMap((count): Reached | [] => {
    const steps = fresh
      .filter(row => row.budget === count.budget.name && row.value === count.value && row.windowId === count.window.id)
      .map(({ step }) => step)
      .sort((a, b) => a - b)
    return steps.length > 0 ? { count, steps } : []
  })
  if (reached.length === 0) return
  const people = await loadPeople(tx, orgId)
  for (const one of reached) await mailOwners(tx, ctx, people, one)
  for (const one of reached) await recordSteps(tx, ctx, orgId, one)
}

type People = Awaited<ReturnType<typeof loadPeople>>

async function loadPeople(tx: Tx, orgId: string) {
  const org = await tx.organisation.findUniqueOrThrow({
    where: { id: orgId },
    select: { id: true, name: true, slug: true },
  })
  const members = await tx.member.findMany({
    where: { orgId, removedAt: null },
    select: { id: true, email: true, name: true, role: true },
  })
  const machines = await tx.machine.findMany({ where: { orgId }, select: { id: true, label: true, memberId: true } })
  const grants = await tx.figuresGrant.findMany({ where: { orgId, endedAt: null } })
  return { org, members, machines, grants }
}

/** Everybody a budget's owners stand for: holders of a role and above, and members by id. */
export function ownersOf<M extends { id: string; role: Role }>(owners: readonly string[], members: readonly M[]): M[] {
  return members.filter(({ id, role }) =>
    owners.some(owner => {
      const [kind, name] = owner.split(':') as [string, string]
      return kind === 'member' ? name === id : roleAtLeast(role, name as Role)
    }),
  )
}

/** Whether somebody sees a member's own figures, by the grants that have not ended. */
export const seesFigures = (grants: People['grants'], readerId: string, memberId: string, now: Date): boolean =>
  memberId === readerId ||
  grants.some(
    ({ holderId, subjectId, expiresAt }) =>
      holderId === readerId && expiresAt > now && (subjectId === null || subjectId === memberId),
  )

async function mailOwners(tx: Tx, ctx: Ctx, people: People, { count, steps }: Reached): Promise<void> {
  const { budget, value, window } = count
  const { org } = people
  const step = steps.at(-1)!
  for (const owner of ownersOf(budget.owners, people.members)) {
    const whose = nameOf(count, people, owner.id, ctx.now)
    const told = {
      account: owner.email,
      org: org.name,
      budget: budget.name,
      ...(whose.name === undefined ? {} : { of: whose.name }),
      steps,
      ...(whose.withheld ? {} : { used: formatDecimal(count.used) }),
      ...(whose.withheld || count.bound === 0n ? {} : { bound: formatDecimal(count.bound) }),
      amount: budget.amount,
      currency: budget.currency,
      basis: budget.basis,
      window: { start: mailTime(new Date(window.start)), end: mailTime(new Date(window.end)), zone: budget.zone },
      ended: window.end <= ctx.now.getTime(),
      url: `${env().publicUrl}/${org.slug}/spend/budgets/${encodeURIComponent(budget.name)}`,
    }
    const parts = [org.id, budget.name, value, window.id, String(step), owner.id]
    const mail = { to: owner.email, messageId: messageId('budget', ...parts), told }
    await enqueue(tx, 'budget.mail', mail, {
      key: `budget-step:${parts.join(':')}`,
      org: org.id,
    })
  }
}

/** Whose share it is, as one reader may know it: of a person only whoever sees that person's figures is told name and amount. */
function nameOf(
  { budget: { for: whom }, value }: Count,
  { members, machines, grants }: People,
  readerId: string,
  now: Date,
): { name: string | undefined; withheld: boolean } {
  if (whom === undefined) return { name: undefined, withheld: false }
  const named = value || whom.value
  if (whom.key !== 'member' && whom.key !== 'machine') return { name: `${whom.key} ${named}`, withheld: false }
  const machine = whom.key === 'machine' ? machines.find(({ id, label }) => id === named || label === named) : undefined
  if (!personsIn({ for: whom }, value, machines)!.every(id => seesFigures(grants, readerId, id, now)))
    return { name: `a ${whom.key}`, withheld: true }
  const name = machine?.label ?? members.find(({ id }) => id === named)?.name ?? named
  return { name: `${whom.key} ${name}`, withheld: false }
}

async function recordSteps(tx: Tx, ctx: Ctx, orgId: string, { count, steps }: Reached): Promise<void> {
  const { budget, value, window } = count
  const ofPerson = budget.for?.key === 'member' || budget.for?.key === 'machine'
  await recordEvidence(
    tx,
    { ...ctx, actor: { kind: 'system', orgId } },
    {
      kind: 'budget.step_reached',
      subject: { kind: 'organisation', id: orgId },
      data: {
        budget: budget.name,
        // A person stands in the ledger as a commitment only, a machine by its id and not by what somebody called it.
        ...(budget.for === undefined || ofPerson ? {} : { of: { [budget.for.key]: value || budget.for.value } }),
        ...(budget.for?.key === 'machine' && value !== '' ? { of: { machine: value } } : {}),
        window: window.id,
        steps,
        amount: budget.amount,
        currency: budget.currency,
        basis: budget.basis,
        ...(ofPerson ? {} : { used: formatDecimal(count.used) }),
      },
    },
  )
}

import type { Db, Tx } from '../db.ts'
import type { BudgetStepData } from '../email/budget-step.ts'
import type { BudgetStopData } from '../email/budget-stop.ts'
import type { MailFile } from '../email/mailer.ts'

/** Every job there is, with its payload. The worker (jobs/worker.ts) must have a task of each name. */
export type Jobs = {
  /** Mails everyone who can answer a new request. */
  'approval.mail': { org: string; handle: string }
  /** Tells the requester how it ended. */
  'approval.mail_settled': { org: string; handle: string }
  /** Marks a request expired, a grant lapsed: housekeeping only; every decision checks the time itself. */
  'approval.sweep': Record<string, never>
  /** Looks up, away from the request that asked, whether an address may sign in, and mails the code and the link. */
  'sign_in.mail': { attempt: string; code: string; link: string; next?: string }
  'invitation.mail': { invitation: string; token: string }
  'mail.send': {
    to: string
    subject: string
    text: string
    html: string
    messageId: string
    inReplyTo?: string
    demo?: boolean
    files?: readonly MailFile[]
  }
  'mail.digest': { org: string; member: string }
  /** Mails owners of what a machine's hooks do not hold any more, or hold again, since they were last told. */
  'machine.hooks_mail': { org: string; machine: string }
  /** The same of all machines at once, to somebody who would get too many of the other. */
  'machine.hooks_digest': { org: string; member: string }
  'member.sweep': Record<string, never>
  /** Counts an organisation's budgets, and tells of steps. */
  'budget.cut': { org: string }
  'budget.cut_all': Record<string, never>
  /** Mails one of a budget's owners about a step. */
  'budget.mail': { to: string; messageId: string; told: BudgetStepData }
  /** Tells a member, or one of a budget's owners, that the budget stopped the member. */
  'budget.stop_mail': { to: string; messageId: string; told: BudgetStopData }
  /** Mails a closed statement to the tenant's contact, as it was noted. */
  'statement.mail': { org: string; tenant: string; month: string; number: number }
  /** Makes partitions ahead and takes usage that waited for its time. */
  'usage.sweep': Record<string, never>
  /** Makes the totals of the zone that an organisation is changing to. */
  'usage.rezone': { org: string }
}

const mailFlag = (org: string) => `mail of ${org}`

/**
 * An organisation's mail in the queue: what waits, and what was refused or tried too often. A code for signing in is of no
 * organisation; it counts wherever its address is a member's.
 */
export async function countMail(db: Db | Tx, org: string): Promise<{ waiting: number; stuck: number }> {
  const [mail] = await db.$queryRaw<{ waiting: number; stuck: number }[]>`
    select count(*) filter (where attempts < max_attempts)::int as waiting, count(*) filter (where attempts >= max_attempts)::int as stuck
    from graphile_worker.jobs j
    where (task_identifier in ('mail.send', 'invitation.mail', 'budget.mail', 'budget.stop_mail', 'statement.mail') and flags ? ${mailFlag(org)})
      or (task_identifier = 'sign_in.mail' and exists (
        select 1 from "SignInAttempt" a join "Member" m on m.email = a.email and m."orgId" = ${org} and m."removedAt" is null
        where j.key = ${signInKey('')} || a.id))`
  return mail!
}

/** What the job of a sign-in is called. */
export const signInKey = (attempt: string): string => `sign-in:${attempt}`

/**
 * Adds a job inside the transaction that causes it: it exists if and only if the change does, and survives any crash
 * (graphile-worker's own function in the database). `key` makes a repeat replace the waiting one; `org` marks mail of an
 * organisation, so that it can be counted there and nowhere else.
 */
export async function enqueue<Name extends keyof Jobs>(
  tx: Tx,
  name: Name,
  payload: Jobs[Name],
  { key, runAt, org }: { key?: string; runAt?: Date; org?: string } = {},
): Promise<void> {
  await tx.$queryRaw`select graphile_worker.add_job(${name}, ${JSON.stringify(payload)}::json, run_at => ${runAt ?? null}::timestamptz, job_key => ${key ?? null}, max_attempts => 20, flags => ${org === undefined ? null : [mailFlag(org)]}::text[])::text`
}

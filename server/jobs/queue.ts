import type { Tx } from '../db.ts'

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
  }
  'mail.digest': { org: string; member: string }
  'member.sweep': Record<string, never>
}

/**
 * Adds a job inside the transaction that causes it: it exists if and only if the change does, and survives any crash
 * (graphile-worker's own function in the database). `key` makes a repeat replace the waiting one.
 */
export async function enqueue<Name extends keyof Jobs>(
  tx: Tx,
  name: Name,
  payload: Jobs[Name],
  { key, runAt }: { key?: string; runAt?: Date } = {},
): Promise<void> {
  await tx.$queryRaw`select graphile_worker.add_job(${name}, ${JSON.stringify(payload)}::json, run_at => ${runAt ?? null}::timestamptz, job_key => ${key ?? null}, max_attempts => 20)::text`
}

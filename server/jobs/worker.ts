import { randomBytes } from 'node:crypto'
import { EventEmitter } from 'node:events'
import { Logger, parseCronItems, type Runner, run, type TaskList, type WorkerEvents } from 'graphile-worker'
import { type Db, database } from '../db.ts'
import { Bounced } from '../email/mailer.ts'
import { env } from '../env.ts'
import { sweepApprovals } from '../features/approval/sweep.ts'
import { sweepUsage } from '../features/usage/sweep.ts'
import { rebuildTotals } from '../features/usage/zone.ts'
import { log } from '../log.ts'
import { mailDigest, mailRequest, mailSettled } from './approval-mail.ts'
import { cutAll, cutOne } from './budget-cut.ts'
import { mailBudgetStep, mailBudgetStop } from './budget-mail.ts'
import { mailHooks, mailHooksDigest } from './hooks-mail.ts'
import type { Jobs } from './queue.ts'
import { deliver } from './send-mail.ts'
import { mailInvitation, mailSignIn } from './sign-in-mail.ts'
import { mailStatement } from './statement-mail.ts'
import { sweepMembers } from './sweep.ts'
import { WorkerLife } from './worker-life.ts'

type Tasks = { [Name in keyof Jobs]: (db: Db, payload: Jobs[Name], now: Date) => Promise<unknown> }

/** One task for every job there is: the compiler refuses a missing one. */
const TASKS: Tasks = {
  'approval.mail': mailRequest,
  'approval.mail_settled': mailSettled,
  'approval.sweep': (db, _, now) => sweepApprovals(db, now, n => new Uint8Array(randomBytes(n))),
  'sign_in.mail': mailSignIn,
  'invitation.mail': mailInvitation,
  'mail.send': deliver,
  'mail.digest': mailDigest,
  'machine.hooks_mail': mailHooks,
  'machine.hooks_digest': mailHooksDigest,
  'member.sweep': (db, _, now) => sweepMembers(db, now),
  'budget.cut': cutOne,
  'budget.cut_all': cutAll,
  'budget.mail': mailBudgetStep,
  'budget.stop_mail': mailBudgetStop,
  'statement.mail': mailStatement,
  'usage.sweep': (db, _, now) => sweepUsage(db, now, n => new Uint8Array(randomBytes(n))),
  'usage.rezone': (db, { org }) => rebuildTotals(db, org),
}

/** Jobs that every process may start at once; the database's locks give each to one of them. */
const CONCURRENCY = 4
/** Approval states are swept and budgets counted each minute, sign-in's remains are swept each hour. */
const CRON = [
  { task: 'approval.sweep', match: '* * * * *', identifier: 'approval.sweep', options: { maxAttempts: 1 } },
  { task: 'usage.sweep', match: '* * * * *', identifier: 'usage.sweep', options: { maxAttempts: 1 } },
  { task: 'budget.cut_all', match: '* * * * *', identifier: 'budget.cut_all', options: { maxAttempts: 1 } },
  { task: 'member.sweep', match: '17 * * * *', identifier: 'member.sweep', options: { maxAttempts: 1 } },
]

const holder = globalThis as unknown as { holdpointWorker?: Promise<Worker> }

/** Starts this process's worker, once. It reaches the queue through the process's own pool. */
export function startWorker(): Promise<Worker> {
  holder.holdpointWorker ??= openWorker({ ...database(), url: env().databaseUrl })
  return holder.holdpointWorker
}

/** Stops it: jobs under way are finished or given back. */
export async function stopWorker(): Promise<void> {
  const running = holder.holdpointWorker
  holder.holdpointWorker = undefined
  await (await running)?.stop()
}

export type Worker = { stop(): Promise<void> }

/** A worker over a given database. Exported for tests. */
export async function openWorker(
  { prisma, pool, url }: Pick<ReturnType<typeof database>, 'prisma' | 'pool'> & { url: string },
  { cron = true } = {},
): Promise<Worker> {
  const taskList: TaskList = Object.fromEntries(
    Object.entries(TASKS).map(([name, task]) => [
      name,
      (payload: unknown) =>
        (task as (db: Db, payload: never, now: Date) => Promise<unknown>)(prisma, payload as never, new Date()).then(
          () => {},
        ),
    ]),
  )
  const events: WorkerEvents = new EventEmitter()
  // A lost connection is the pool's to replace; without a listener it would end the process.
  if (pool.listenerCount('connect') === 0) pool.on('connect', client => client.on('error', () => {}))
  const life = new WorkerLife(url)
  await life.start()
  events.on('worker:create', ({ worker }) => life.hold(worker.workerId))
  const runner: Runner = await run({
    pgPool: pool as never,
    taskList,
    concurrency: CONCURRENCY,
    noHandleSignals: true,
    pollInterval: 2000,
    parsedCronItems: parseCronItems(cron ? CRON : []),
    events,
    logger: new Logger(() => () => {}),
  })
  events.on('job:error', ({ job, error }) => {
    const bounced = error instanceof Bounced
    log.error(bounced ? 'mail.bounced' : 'job.failed', error, {
      task: job.task_identifier,
      job: String(job.id),
      attempt: job.attempts,
      of: job.max_attempts,
    })
  })
  // A bounce is final: the job stays in the queue's table as failed, with the reason, and is not tried again.
  events.on('job:complete', ({ job, error }) => {
    if (error instanceof Bounced) failForGood(pool, String(job.id), error.message)
  })
  return {
    stop: async () => {
      await runner.stop()
      await life.stop()
    },
  }
}

/** The worker lets go of the job just after its event: a few tries, then the next ordinary attempt bounces again. */
function failForGood(pool: ReturnType<typeof database>['pool'], id: string, reason: string, triesLeft = 5): void {
  setTimeout(async () => {
    try {
      const { rowCount } = await pool.query('select id from graphile_worker.permanently_fail_jobs($1::bigint[], $2)', [
        [id],
        reason,
      ])
      if (rowCount === 0 && triesLeft > 0) failForGood(pool, id, reason, triesLeft - 1)
    } catch (error) {
      log.error('job.fail_for_good', error, { job: id })
    }
  }, 200).unref()
}

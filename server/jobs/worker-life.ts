import pg from 'pg'
import { log } from '../log.ts'

const LOOK_MS = 10_000
/** First half of the advisory locks' keys: "a worker lives". */
const LOCK = 48_102

/**
 * Gives jobs back whose worker died in the middle (kill -9, power): the queue by itself waits four hours for it. Every process holds one
 * connection with a session lock per worker of its own, which PostgreSQL drops with the process; whoever can take the lock
 * of a worker that has a job knows that nobody lives behind it. A worker that only lost this connection may have its job run
 * a second time, which jobs bear.
 */
export class WorkerLife {
  private client: pg.Client | undefined
  private timer: NodeJS.Timeout | undefined
  private ended = false
  private readonly own = new Set<string>()
  /** One question at a time on the one connection. */
  private last: Promise<unknown> = Promise.resolve()

  private readonly url: string
  constructor(url: string) {
    this.url = url
  }

  async start(): Promise<void> {
    await this.connect()
    await this.look()
    this.timer = setInterval(
      () =>
        this.inTurn(() => this.look()).catch(error =>
          log.warn('jobs.look_failed', { message: (error as Error).message }),
        ),
      LOOK_MS,
    )
    this.timer.unref()
  }

  /** A worker of this process began. Its lock is taken before it can have held a job for long. */
  async hold(workerId: string): Promise<void> {
    this.own.add(workerId)
    await this.inTurn(async () =>
      this.client?.query('select pg_advisory_lock($1, hashtext($2))', [LOCK, workerId]),
    ).catch(() => {})
  }

  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.last.then(work)
    this.last = turn.catch(() => {})
    return turn
  }

  async stop(): Promise<void> {
    this.ended = true
    clearInterval(this.timer)
    await this.client?.end().catch(() => {})
  }

  private async connect(): Promise<void> {
    const client = new pg.Client({ connectionString: this.url, keepAlive: true, application_name: 'holdpoint workers' })
    client.on('error', () => {
      if (this.client !== client || this.ended) return
      this.client = undefined
      client.end().catch(() => {})
    })
    await client.connect()
    this.client = client
    for (const id of this.own) await client.query('select pg_advisory_lock($1, hashtext($2))', [LOCK, id])
  }

  private async look(): Promise<void> {
    if (this.ended) return
    if (!this.client) await this.connect()
    const client = this.client!
    const { rows } = await client.query<{ id: string }>(
      "select distinct locked_by as id from graphile_worker.jobs where locked_by is not null and locked_at < now() - interval '2 seconds'",
    )
    for (const { id } of rows.filter(row => !this.own.has(row.id))) {
      const { rows: tried } = await client.query<{ dead: boolean }>(
        'select pg_try_advisory_lock($1, hashtext($2)) as dead',
        [LOCK, id],
      )
      if (!tried[0]?.dead) continue
      await client.query('select graphile_worker.force_unlock_workers($1::text[])', [[id]])
      await client.query('select pg_advisory_unlock($1, hashtext($2))', [LOCK, id])
      log.warn('jobs.given_back', { worker: id })
    }
  }
}

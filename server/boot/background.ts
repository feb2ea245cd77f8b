import { watchDoor } from '../auth/door.ts'
import { closeMailers } from '../email/mailer.ts'
import { watchHighWater } from '../features/high-water.ts'
import { startWorker, stopWorker } from '../jobs/worker.ts'
import { log } from '../log.ts'

const RETRY_MS = 2000
const holder = globalThis as unknown as { holdpointBackground?: true }

/** What a server process does besides answering requests: it notes who stands at its door, and works the queue. */
export function startBackground(): void {
  if (holder.holdpointBackground) return
  holder.holdpointBackground = true
  watchDoor()
  void keepWorking()
  watchHighWater()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      stopWorker()
        .catch(() => {})
        .finally(closeMailers)
    })
  }
}

/** Until the database can be reached, the worker is tried again; pages say for themselves that it is down. */
async function keepWorking(): Promise<void> {
  for (;;) {
    try {
      await startWorker()
      return
    } catch (error) {
      log.warn('jobs.not_started', { message: (error as Error).message })
      await stopWorker().catch(() => {})
      await new Promise(resolve => setTimeout(resolve, RETRY_MS))
    }
  }
}

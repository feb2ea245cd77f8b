import { join } from 'node:path'
import { DaemonRefused, takeLock } from '#agent/daemon/lock.ts'
import { ensureDir, type Home } from '#agent/home.ts'

/**
 * Takes the ledger of a home for this process: apart from the daemon's own lock, so that a command which reads years of records
 * keeps no daemon from starting. Returns how to give it back; where nothing can be written nothing is taken.
 * @throws Error in words while another process has it
 */
export function takeLedger(home: Home): () => void {
  try {
    ensureDir(home.usage)
    return takeLock({ ...home, lock: join(home.usage, 'ledger.lock') }) ?? (() => {})
  } catch (error) {
    if (error instanceof DaemonRefused)
      throw new Error('another process is reading records into the ledger; it is tried again in a minute')
    throw error
  }
}

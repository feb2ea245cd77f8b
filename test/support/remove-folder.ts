import { rm } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'

/** Long for a process to end that was told to; what is left then is a fault. */
const GIVE_UP_MS = 20_000

/**
 * Removes a folder that processes on their way out may still write into: an agent that was ended runs its last hooks. Tries again
 * until it is gone.
 */
export async function removeFolder(folder: string): Promise<void> {
  for (const began = performance.now(); ; await sleep(100)) {
    try {
      return await rm(folder, { recursive: true, force: true })
    } catch (error) {
      if (performance.now() - began > GIVE_UP_MS) throw error
    }
  }
}

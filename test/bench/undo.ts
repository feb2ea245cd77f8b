import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeFolder } from '#test/support/remove-folder.ts'

type Undo = () => unknown

/** Notes how to end something that was started. */
export type Later = (undo: Undo) => void

/**
 * Runs `work` and then ends everything it has noted, the newest first, whether it succeeded, failed or was interrupted.
 */
export async function withUndo<T>(work: (later: Later) => Promise<T>): Promise<T> {
  const undo: Undo[] = []
  let undone: Promise<void> | undefined
  const undoAll = () => {
    undone ??= (async () => {
      for (const step of undo.reverse()) await (async () => step())().catch(error => console.error(error))
    })()
    return undone
  }
  const interrupted = () => void undoAll().then(() => process.exit(130))
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, interrupted)
  try {
    return await work(step => undo.push(step))
  } finally {
    await undoAll()
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, interrupted)
  }
}

/** An empty folder of this run only. */
export function temporaryFolder(later: Later): string {
  const folder = mkdtempSync(join(tmpdir(), 'holdpoint-bench-'))
  later(() => removeFolder(folder))
  return folder
}

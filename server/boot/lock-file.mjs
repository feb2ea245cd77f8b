// A lock between processes that survives kill -9: the file names its holder, and a dead holder's lock is taken over.
import fs from 'node:fs'
import { isMarkAlive, ownMark } from './process-mark.mjs'

const RETRY_MS = 40
/** A lock file is empty for the moment between its creation and its first write. */
const UNNAMED_MS = 5000

function read(file) {
  try {
    return { mark: fs.readFileSync(file, 'utf8'), ageMs: Date.now() - fs.statSync(file).mtimeMs }
  } catch {
    return undefined
  }
}

/** Removes a dead holder's lock, and gives it back if somebody else had replaced it in between. */
function breakLock(file, deadMark) {
  const aside = `${file}.${ownMark()}`
  try {
    fs.renameSync(file, aside)
    if (fs.readFileSync(aside, 'utf8') !== deadMark) fs.linkSync(aside, file)
  } catch {
    // another process was quicker
  }
  fs.rmSync(aside, { force: true })
}

/**
 * Runs `work` while holding the lock.
 * @template T
 * @param {string} file
 * @param {() => Promise<T>} work
 * @param {number} [waitMs] how long to wait for a living holder before giving up
 * @returns {Promise<T>}
 */
export async function withLockFile(file, work, waitMs = 120_000) {
  const until = Date.now() + waitMs
  for (;;) {
    try {
      fs.writeFileSync(file, ownMark(), { flag: 'wx' })
      break
    } catch (error) {
      if (error.code !== 'EEXIST') throw error
    }
    const held = read(file)
    if (held && (held.mark ? !isMarkAlive(held.mark) : held.ageMs > UNNAMED_MS)) breakLock(file, held.mark)
    else if (Date.now() > until) throw new Error(`process ${held?.mark.split('-')[0]} has held ${file} for too long`)
    else await new Promise(resolve => setTimeout(resolve, RETRY_MS))
  }
  try {
    return await work()
  } finally {
    fs.rmSync(file, { force: true })
  }
}

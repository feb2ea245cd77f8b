// Names a process so that a later process with the same number is not taken for it.
import fs from 'node:fs'

/** When the process started, in the kernel's ticks; undefined where the system does not say. */
function startedAt(pid) {
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] // field 22 of proc(5); the name before it may hold spaces
  } catch {
    return undefined
  }
}

/**
 * Whether a process with this number exists, whoever owns it.
 * @param {number} pid
 */
export function isAlive(pid) {
  if (!Number.isInteger(pid) || pid <= 0) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

/** The mark of this process: its number, and its start where the system tells it. */
export function ownMark() {
  return `${process.pid}-${startedAt(process.pid) ?? ''}`
}

/**
 * Whether the process that wrote this mark is still there.
 * @param {string} mark
 */
export function isMarkAlive(mark) {
  const [pid, start] = mark.split('-')
  if (!isAlive(Number(pid))) return false
  const now = startedAt(Number(pid))
  return !start || now === undefined || now === start
}

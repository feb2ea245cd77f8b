// The processes that the launcher starts: all of them end when the launcher is asked to end.
import { spawn } from 'node:child_process'

/** @type {Set<import('node:child_process').ChildProcess>} */
const running = new Set()

/**
 * Starts a process and remembers it until it ends.
 * @param {string} command
 * @param {string[]} args
 * @param {import('node:child_process').SpawnOptions} [options]
 */
export function startChild(command, args, options = {}) {
  const child = spawn(command, args, { stdio: 'inherit', ...options })
  running.add(child)
  child.once('error', () => running.delete(child))
  child.once('exit', () => running.delete(child))
  return child
}

/**
 * Resolves when the process ends; a signal counts as a failure.
 * @param {import('node:child_process').ChildProcess} child
 * @returns {Promise<number>} the exit code
 */
export function ended(child) {
  if (child.exitCode !== null) return Promise.resolve(child.exitCode)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', code => resolve(code ?? 1))
  })
}

/**
 * Runs a command to its end and throws when it fails.
 * @param {string} command
 * @param {string[]} args
 * @param {import('node:child_process').SpawnOptions & { failure?: string }} [options] `failure`: the words of the error
 */
export async function runChild(command, args, { failure, ...options } = {}) {
  const code = await ended(startChild(command, args, options))
  if (code !== 0) throw new Error(failure ?? `${command} ${args.join(' ')} ended with code ${code}`)
}

/**
 * Runs npm: the one that started us where there is one, so that no second version mixes in.
 * @param {string[]} args
 * @param {import('node:child_process').SpawnOptions & { failure?: string }} [options]
 */
export function runNpm(args, options) {
  const npm = process.env.npm_execpath
  if (npm && /npm-cli\.c?js$/.test(npm)) return runChild(process.execPath, [npm, ...args], options)
  return runChild('npm', args, { shell: process.platform === 'win32', ...options })
}

/**
 * Ends every process that is still running: asks first, kills after the grace time.
 * @param {number} [graceMs]
 */
export async function endChildren(graceMs = 5000) {
  const left = [...running]
  for (const child of left) child.kill('SIGTERM')
  const timer = setTimeout(() => {
    for (const child of left) child.kill('SIGKILL')
  }, graceMs)
  await Promise.all(left.map(child => ended(child).catch(() => 1)))
  clearTimeout(timer)
}

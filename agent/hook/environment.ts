import { join } from 'node:path'
import { readRegular } from '#agent/regular-file.ts'
import { heldIn } from '#core/usage/environment.ts'

/** Where the daemon writes down what the signed rules ask of a session's environment. */
export const environmentFile = (home: string): string => join(home, 'environment.json')
export type EnvironmentFile = { name: string; patterns: string[] }

/**
 * Which of the signed rules' patterns hold in this process's environment: the name of their list and the places in it. Variables
 * that no rule names are not looked at, and no value leaves this process. Empty where nothing is asked.
 */
export function heldHere(home: string, env: Readonly<Record<string, string | undefined>>): string {
  const file = readRegular(environmentFile(home), { maxBytes: 256 * 1024, own: true })
  if (!('bytes' in file)) return ''
  try {
    const { name, patterns } = JSON.parse(file.bytes.toString('utf8')) as EnvironmentFile
    if (!/^[A-Za-z0-9_-]{1,64}$/.test(name)) return ''
    const held = new Set(heldIn(patterns, env))
    return `${name}:${patterns.flatMap((pattern, i) => (held.has(pattern) ? [i] : [])).join('.')}`
  } catch {
    return ''
  }
}

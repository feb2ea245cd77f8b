/** Which agent programs there are on this machine. */
import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'
import type { ClientHome } from './client-home.ts'

const WINDOWS_ENDINGS = ['.exe', '.cmd', '.bat']

/** The file that a program's name stands for on the PATH of an environment; nothing is started. */
export function findProgram(name: string, { env }: Pick<ClientHome, 'env'>): string | undefined {
  const endings = process.platform === 'win32' ? WINDOWS_ENDINGS : ['']
  // a relative part of PATH would be another program in each folder
  const folders = (env.PATH ?? env.Path ?? '').split(delimiter).filter(folder => isAbsolute(folder))
  return folders.flatMap(folder => endings.map(ending => join(folder, name + ending))).find(isProgram)
}

/** How a client's program is asked for its version. A batch file is not started without a shell. */
export const versionCall = (exe: string): { args: string[]; shell: boolean } => ({
  args: ['--version'],
  shell: process.platform === 'win32' && !exe.endsWith('.exe'),
})

/** The version in what it said, e.g. `2.1.332 (Claude Code)`. */
export const versionIn = (said: string): string | undefined => /\d+\.\d+\.\d+/.exec(said)?.[0]

function isProgram(path: string): boolean {
  try {
    if (!statSync(path).isFile()) return false
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

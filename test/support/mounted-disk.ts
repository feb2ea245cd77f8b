import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdirSync, mkdtempSync, rmdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A real file system of a test's own, which can be full or read-only. Only a user who may mount has one. */
export type MountedDisk = {
  fill(): void
  free(): void
  readOnly(is: boolean): void
  unmount(): void
}

/** Puts a file system of so many KiB over a folder, which is made. @throws what mount says where this user may not */
export function mountDisk(folder: string, kib: number): MountedDisk {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const run = (command: string, ...args: string[]) => void execFileSync(command, args, { stdio: 'ignore' })
  run('mount', '-t', 'tmpfs', '-o', `size=${kib}k,mode=0700`, 'tmpfs', folder)
  const ballast = join(folder, 'ballast')
  return {
    fill() {
      for (const piece of [Buffer.alloc(4096), 'x']) {
        try {
          for (;;) appendFileSync(ballast, piece)
        } catch {
          // full
        }
      }
    },
    free: () => rmSync(ballast),
    readOnly: is => run('mount', '-o', `remount,${is ? 'ro' : 'rw'}`, folder),
    unmount: () => run('umount', '-l', folder),
  }
}

/** Whether this user may mount: root in a container of its own, mostly. */
export const mayMount = (() => {
  const folder = mkdtempSync(join(tmpdir(), 'mount-'))
  try {
    mountDisk(folder, 64).unmount()
    return true
  } catch {
    return false
  } finally {
    rmdirSync(folder)
  }
})()

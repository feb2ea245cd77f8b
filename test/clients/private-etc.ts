/** A private, writable /etc (etc-overlay.sh) in which commands run while everything else stays as it is. Needs root. */
import { spawn, spawnSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const SCRIPT = join(dirname(fileURLToPath(import.meta.url)), 'etc-overlay.sh')

/** Whether this process may make one. */
export const mayOverlay =
  process.platform === 'linux' &&
  process.getuid?.() === 0 &&
  spawnSync('sh', [SCRIPT, 'true'], { stdio: 'ignore' }).status === 0 &&
  spawnSync('nsenter', ['--version'], { stdio: 'ignore' }).status === 0

export type PrivateEtc = {
  /** Words before a command that is to run there; it keeps its working folder. */
  inside: readonly string[]
  end(): Promise<void>
}

export async function openPrivateEtc(): Promise<PrivateEtc> {
  const holder = spawn('sh', [SCRIPT, 'sh', '-c', 'echo $$; exec cat'], { stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = new Promise<void>(resolve => holder.once('close', () => resolve()))
  const pid = await new Promise<string>((resolve, reject) => {
    let text = ''
    holder.stdout.on('data', chunk => {
      text += chunk
      if (text.includes('\n')) resolve(text.trim())
    })
    holder.once('close', () => reject(new Error('no private /etc could be made')))
  })
  // the mounts alone: loopback is everybody's
  const inside = ['sh', '-c', 'exec nsenter -m -t "$0" sh -c \'cd "$0" && exec "$@"\' "$PWD" "$@"', pid]
  const end = async () => {
    holder.stdin.end()
    await ended
  }
  return { inside, end }
}

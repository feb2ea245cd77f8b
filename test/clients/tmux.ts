/** Drives an interactive client in a private tmux server: its own socket, no configuration, nothing inherited. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { exactly, PATH, sleep } from './bench.ts'

export type Tmux = {
  screen(): string
  /** Key names of tmux: `Enter`, `Escape`, `C-c`. */
  sendKeys(...keys: string[]): void
  type(text: string): void
  /** The screen once it matches. */
  waitFor(text: RegExp | string, timeoutMs?: number): Promise<string>
  /** Sends the key until the screen no longer shows `prompt`: a key that comes at once with a dialog is swallowed. */
  answer(prompt: string, key: string, timeoutMs?: number): Promise<void>
  kill(): void
}

const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

/** Starts `command` (a shell line) in a terminal of 130 by 45. */
export function startTmux(dir: string, command: string, env: Record<string, string>, cwd: string): Tmux {
  const socket = join(dir, 'tmux.sock')
  const own = { PATH, HOME: dir, TERM: 'xterm-256color', LANG: 'C.UTF-8' }
  const tmux = (...args: string[]) =>
    execFileSync('tmux', ['-S', socket, '-f', '/dev/null', ...args], {
      env: exactly(own),
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  const variables = Object.entries(env).map(([name, value]) => `${name}=${quote(value)}`)
  const line = `env -i ${variables.join(' ')} ${command}; echo EXITED $?; sleep 60`
  tmux('new-session', '-d', '-x', '130', '-y', '45', '-c', cwd, line)
  const screen = () => tmux('capture-pane', '-p')
  return {
    screen,
    sendKeys: (...keys) => void tmux('send-keys', ...keys),
    type: text => void tmux('send-keys', '-l', text),
    waitFor: async (text, timeoutMs = 20_000) => {
      const end = Date.now() + timeoutMs
      for (;;) {
        const now = screen()
        if (typeof text === 'string' ? now.includes(text) : text.test(now)) return now
        if (Date.now() > end) throw new Error(`timed out waiting for ${text} on this screen:\n${now}`)
        await sleep(50)
      }
    },
    answer: async (prompt, key, timeoutMs = 20_000) => {
      const end = Date.now() + timeoutMs
      while (screen().includes(prompt)) {
        if (Date.now() > end) throw new Error(`${key} does not answer this screen:\n${screen()}`)
        tmux('send-keys', key)
        // drawn anew in a moment; a key that came before the prompt listened is typed again
        for (const again = Date.now() + 500; screen().includes(prompt) && Date.now() < again; ) await sleep(25)
      }
    },
    kill: () => {
      try {
        // the client's own process group: a hang-up alone leaves it writing for seconds
        process.kill(-Number(tmux('display-message', '-p', '#{pane_pid}')), 'SIGKILL')
        tmux('kill-server')
      } catch {
        // it has ended by itself
      }
    },
  }
}

/** Tells the person at the desktop when something waits: once for each, and never with anything that a tool said. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { join } from 'node:path'
import type { Runtime } from '#agent/daemon/runtime.ts'
import { waitingOf } from '#agent/daemon/status.ts'
import { roleWords } from '#core/boundary/describe.ts'
import { CLIENT_NAMES, isClient } from '#core/client.ts'
import type { LadderRole } from '#core/role.ts'
import { approveTerminal, type Env, findIn, type Notice, notifierFor, type Program } from './notifier.ts'

const LOOK_MS = 1000
/** Of more at once only the number is told. */
const ONE_BY_ONE = 3
/** A notifier that says which button was pressed lives as long as its notice. */
const OPEN_MAX = 8
const SHOWN_MS = 10 * 60_000

type Waiting = { handle: string; rules: string[]; client: string; role?: LadderRole }

export type Desk = {
  /** Shows a notice; resolves with the button that was pressed, where the notifier can say. */
  show(notice: Notice): Promise<'deny' | 'approve' | undefined>
  /** Opens a terminal where a person can approve. */
  openTerminal(id: string): void
  /** Waits for no button any more. */
  close(): void
}

export class Notices {
  private readonly told = new Set<string>()
  private seenSeq = -1
  private timer: NodeJS.Timeout | undefined

  constructor(
    private readonly runtime: Runtime,
    private readonly desk: Desk,
    private readonly deny: (handle: string) => void,
  ) {
    // what waited before this start was told then
    for (const { handle } of this.waiting()) this.told.add(handle)
  }

  start(): void {
    this.timer = setInterval(() => this.look(), LOOK_MS)
    this.timer.unref()
  }

  stop(): void {
    clearInterval(this.timer)
    this.desk.close()
  }

  /** Nothing is looked at while nothing was chained. */
  look(): void {
    const { seq } = this.runtime.journal.head
    if (seq === this.seenSeq) return
    this.seenSeq = seq
    const isNew = this.waiting().filter(({ handle }) => !this.told.has(handle))
    for (const { handle } of isNew) this.told.add(handle)
    if (isNew.length === 0 || this.runtime.rules.inForce().local.notify === 'off') return
    if (isNew.length > ONE_BY_ONE)
      void this.show({ title: `${isNew.length} held actions wait`, body: 'See: holdpoint waiting' })
    else for (const one of isNew) void this.show(noticeOf(one))
  }

  private waiting(): Waiting[] {
    return waitingOf(this.runtime) as Waiting[]
  }

  private async show(notice: Notice): Promise<void> {
    try {
      const pressed = await this.desk.show(notice)
      if (notice.id === undefined || pressed === undefined) return
      if (pressed === 'deny') this.deny(notice.id)
      else if (notice.mayApprove) this.desk.openTerminal(notice.id)
    } catch (error) {
      this.runtime.log(`a notice was not shown: ${(error as Error).message}`)
    }
  }
}

/** Names of rules and of clients, and the handle: nothing else. */
function noticeOf({ handle, rules, client, role }: Waiting): Notice {
  const who = isClient(client) ? CLIENT_NAMES[client] : 'an agent'
  return {
    title: `${who} was held by ${rules.join(', ')}`,
    body: role ? `Waiting for ${roleWords(role)}. holdpoint waiting` : `holdpoint approve ${handle}`,
    id: handle,
    mayApprove: role === undefined,
  }
}

/** The desktop of whoever started this daemon. */
export function desktopOf(env: Env, { bin }: Pick<Runtime['home'], 'bin'>): Desk {
  const find = findIn(env)
  const canAct = new Promise<boolean>(resolve => {
    const exe = process.platform === 'linux' ? find('notify-send') : undefined
    if (!exe) resolve(false)
    else execFile(exe, ['--help'], { timeout: 2000 }, (_, said) => resolve(String(said).includes('--action')))
  })
  const open = new Set<ChildProcess>()
  return {
    async show(notice) {
      const program = notifierFor(process.platform, env, find, notice, (await canAct) && open.size < OPEN_MAX)
      if (!program) return undefined
      const said = await run(program, env, open)
      return (['deny', 'approve'] as const).find(one => one === said.trim())
    },
    openTerminal(id) {
      const program = approveTerminal(find, process.execPath, join(bin, 'holdpoint.cjs'), id)
      if (!program) return
      const child = spawn(program.exe, program.args, { detached: true, stdio: 'ignore', env: env as NodeJS.ProcessEnv })
      child.on('error', () => {})
      child.unref()
    },
    // its pipe would keep a daemon that ends
    close: () => void [...open].map(child => child.kill()),
  }
}

const run = ({ exe, args, env: more }: Program, env: Env, open: Set<ChildProcess>): Promise<string> =>
  new Promise(resolve => {
    const options = { timeout: SHOWN_MS, windowsHide: true, env: { ...env, ...more } as NodeJS.ProcessEnv }
    const child = execFile(exe, args, options, (_, said) => {
      open.delete(child)
      resolve(String(said))
    })
    open.add(child)
  })

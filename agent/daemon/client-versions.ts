import { execFile } from 'node:child_process'
import { statSync } from 'node:fs'
import type { ClientAdapter } from '#agent/clients/adapter.ts'
import type { ClientHome } from '#agent/clients/client-home.ts'
import { findProgram, versionCall, versionIn } from '#agent/clients/found.ts'

const ASK_MS = 5000
const ANSWER_MAX = 4096

/**
 * The versions of the clients that have hooks. A program is asked again only when its file is another, or was written anew: an
 * older one may not obey a hook that a newer one does.
 */
export class ClientVersions {
  private readonly known = new Map<string, { stamp: string; version?: string }>()

  constructor(private readonly machine: { adapters: ReadonlyMap<string, ClientAdapter>; clientHome: ClientHome }) {}

  of(client: string): string | undefined {
    return this.known.get(client)?.version
  }

  /** Asks each program whose file changed since it was asked last; the answer comes later. */
  look(): void {
    for (const adapter of this.machine.adapters.values()) {
      if (!this.hasHooks(adapter)) continue
      const exe = findProgram(adapter.program, this.machine.clientHome)
      const stamp = exe && stampOf(exe)
      if (exe === undefined || stamp === undefined) this.known.delete(adapter.client)
      else if (this.known.get(adapter.client)?.stamp !== stamp) this.ask(adapter.client, exe, stamp)
    }
  }

  private hasHooks({ hooks }: ClientAdapter): boolean {
    try {
      return hooks.probe(this.machine.clientHome) !== undefined
    } catch {
      return false
    }
  }

  private ask(client: string, exe: string, stamp: string): void {
    this.known.set(client, { stamp })
    const { args, shell } = versionCall(exe)
    const env = { ...this.machine.clientHome.env } as NodeJS.ProcessEnv
    const options = {
      encoding: 'utf8' as const,
      timeout: ASK_MS,
      maxBuffer: ANSWER_MAX,
      env,
      shell,
    }
    const child = execFile(exe, args, options, (_, stdout) => {
      const version = versionIn(String(stdout))
      if (version !== undefined && this.known.get(client)?.stamp === stamp) this.known.set(client, { stamp, version })
    })
    child.stdin?.end()
    child.unref()
  }
}

function stampOf(exe: string): string | undefined {
  try {
    const { ino, size, mtimeMs } = statSync(exe)
    return `${exe} ${ino} ${size} ${mtimeMs}`
  } catch {
    return undefined
  }
}

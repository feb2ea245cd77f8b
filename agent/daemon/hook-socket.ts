import { chmodSync, existsSync, lstatSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import type { Server } from 'node:http'
import { join } from 'node:path'
import { type Home, writeAtomic } from '#agent/home.ts'
import {
  ELSEWHERE,
  folderFile,
  folderTrouble,
  isElsewhere,
  NEW_SOCKET,
  type SocketPlace,
  socketPlace,
} from '#agent/hook/socket-place.ts'

/**
 * The socket that command hooks come in by, in a folder that no other user of the machine can open. A socket that a killed
 * daemon left is replaced; one that disappears (a cleaner of /tmp, a person tidying up) is put back by {@link HookSocket.look}.
 * Where it cannot be, the daemon works without it, and the log, the canary and the level say so.
 */
export class HookSocket {
  private server: Server | undefined
  private ino: number | undefined
  private opening: Promise<void> | undefined
  private lastTrouble: string | undefined

  constructor(
    private readonly home: Home,
    private readonly makeServer: () => Server,
    private readonly log: (line: string) => void,
  ) {}

  /** Opens the socket, or logs why not. Only the holder of the home's lock may: what is found in its place is taken for stale. */
  open(): Promise<void> {
    this.opening ??= this.tryOpen().finally(() => {
      this.opening = undefined
    })
    return this.opening
  }

  /** Opens it again when it is not in its place any more. */
  look(): void {
    if (this.ino !== undefined && this.isInPlace()) return
    if (this.opening === undefined) void this.open()
  }

  async close(): Promise<void> {
    await this.opening
    const place = socketPlace(this.home.root)
    if (place && this.isInPlace()) rmSync(place.path, { force: true })
    await this.end()
  }

  private isInPlace(): boolean {
    const place = socketPlace(this.home.root)
    try {
      return place !== undefined && lstatSync(place.path).ino === this.ino
    } catch {
      return false
    }
  }

  private async tryOpen(): Promise<void> {
    if (!socketPlace(this.home.root)) return
    await this.end()
    try {
      await this.bind(this.findFolder())
      this.lastTrouble = undefined
    } catch (error) {
      const why = (error as Error).message
      if (why !== this.lastTrouble) this.log(`command hooks cannot come in: ${why}`)
      this.lastTrouble = why
    }
  }

  /**
   * The folder, made where it is not there. Below /tmp a name that is known to others may be anybody's by now: whatever is wrong
   * with the folder of that name, another one is made, under a name that nobody could know.
   */
  private findFolder(): SocketPlace {
    const { root } = this.home
    const place = socketPlace(root)!
    if (!isElsewhere(root)) {
      if (!existsSync(place.folder)) mkdirSync(place.folder, { recursive: true, mode: 0o700 })
      return place
    }
    if (place.folder.startsWith(ELSEWHERE) && folderTrouble(place) === undefined) return place
    writeAtomic(this.home, folderFile(root), mkdtempSync(ELSEWHERE))
    return socketPlace(root)!
  }

  /** Bound under another name and renamed, so that no hook ever finds a socket that nobody listens on. */
  private async bind(place: SocketPlace): Promise<void> {
    const trouble = folderTrouble(place)
    if (trouble) throw new Error(trouble)
    const inPlace = lstatSync(place.path, { throwIfNoEntry: false })
    if (inPlace && !inPlace.isSocket()) throw new Error(`${place.path} is there and is no socket`)
    const bound = join(place.folder, NEW_SOCKET)
    rmSync(bound, { force: true })
    const server = this.makeServer()
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen({ path: bound, exclusive: true }, () => {
        server.off('error', reject)
        resolve()
      })
    })
    this.server = server
    chmodSync(bound, 0o600)
    renameSync(bound, place.path)
    this.ino = lstatSync(place.path).ino
  }

  private async end(): Promise<void> {
    const { server } = this
    this.server = undefined
    this.ino = undefined
    if (!server) return
    await new Promise<void>(resolve => {
      server.close(() => resolve())
      server.closeIdleConnections()
      setTimeout(() => server.closeAllConnections(), 500).unref()
    })
  }
}

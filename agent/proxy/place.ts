import { join } from 'node:path'
import { type Home, readJson, remove, writeJson } from '#agent/home.ts'
import type { RouteMode } from '#core/routing.ts'

/** The running proxy of a home, as it wrote itself down. `token`: opens its counts to whoever may read this file. */
export type RunningProxy = {
  port: number
  pid: number
  startedAt: string
  version: string
  mode: RouteMode
  token: string
}

/** Where it listens unless it is told otherwise. */
export const PROXY_PORT = 7717

const placeOf = (home: Home) => join(home.root, 'proxy.json')

export const noteProxy = (home: Home, running: RunningProxy): void => writeJson(home, placeOf(home), running)

/** Takes the note away, unless it is another proxy's by now. */
export function forgetProxy(home: Home): void {
  if (readJson<RunningProxy>(placeOf(home))?.pid === process.pid) remove(placeOf(home))
}

/** Undefined when none runs: what a killed one has left counts for nothing. */
export function readProxy(home: Home): RunningProxy | undefined {
  const said = readJson<RunningProxy>(placeOf(home))
  if (!Number.isInteger(said?.port) || !Number.isInteger(said?.pid)) return undefined
  try {
    process.kill(said!.pid, 0)
    return said
  } catch {
    return undefined
  }
}

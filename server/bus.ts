import { EventEmitter, on } from 'node:events'
import pg from 'pg'
import type { Tx } from './db.ts'
import { env } from './env.ts'
import { log } from './log.ts'

/** What happened, told to every process over PostgreSQL's NOTIFY; a hint to look again, never the fact itself. */
export type Signal = {
  org: string
  what: 'ruleset' | 'root' | 'answer' | 'approval' | 'machine' | 'member' | 'settings' | 'usage'
  machine?: string
  handle?: string
}

const CHANNEL = 'holdpoint'
const holder = globalThis as unknown as { holdpointBus?: EventEmitter }

/** Queues a signal that goes out if and only if the transaction commits. */
export async function notify(tx: Tx, signal: Signal): Promise<void> {
  await tx.$executeRaw`select pg_notify(${CHANNEL}, ${JSON.stringify(signal)})`
}

/** Whoever may connect to the database may NOTIFY: what is not a signal is passed over, and ends nothing. */
export function readSignal(payload: string | undefined): Signal | undefined {
  try {
    const read = JSON.parse(payload ?? '') as Partial<Signal> | null
    return typeof read?.org === 'string' && typeof read.what === 'string' ? (read as Signal) : undefined
  } catch {
    return undefined
  }
}

/**
 * This process's ear: one LISTEN connection, reopened after a second when it breaks. Emits `signal`, and `reconnected`
 * after a gap, upon which every listener must look again (signals of the gap are lost).
 */
export function bus(): EventEmitter {
  if (holder.holdpointBus) return holder.holdpointBus
  const emitter = new EventEmitter().setMaxListeners(0)
  holder.holdpointBus = emitter
  const listen = async () => {
    const client = new pg.Client({ connectionString: env().databaseUrl, keepAlive: true })
    let ended = false
    const again = () => {
      if (ended) return
      ended = true
      client.end().catch(() => {})
      setTimeout(listen, 1000).unref()
    }
    client.on('error', again).on('end', again)
    client.on('notification', ({ payload }) => {
      const signal = readSignal(payload)
      if (signal) emitter.emit('signal', signal)
    })
    try {
      await client.connect()
      await client.query(`listen ${CHANNEL}`)
      emitter.emit('reconnected') // the first time too: whoever listened before this could be missing something
    } catch (error) {
      log.warn('bus.listen_failed', { message: (error as Error).message })
      again()
    }
  }
  void listen()
  return emitter
}

/** Signals that pass a filter, heard from this moment on, until aborted or returned. Also yields undefined after a gap: look again. */
export function openSignals(want: (signal: Signal) => boolean, signal?: AbortSignal) {
  const own = new EventEmitter()
  const forward = (s: Signal) => want(s) && own.emit('x', s)
  const gap = () => own.emit('x', undefined)
  const close = () => void bus().off('signal', forward).off('reconnected', gap)
  const queue = on(own, 'x', signal ? { signal } : {})
  bus().on('signal', forward).on('reconnected', gap)
  const heard = {
    async next(): Promise<IteratorResult<Signal | undefined, undefined>> {
      try {
        const { done, value } = await queue.next()
        return done ? heard.return() : { done: false, value: (value as [Signal | undefined])[0] }
      } catch (error) {
        close()
        if ((error as Error).name !== 'AbortError') throw error
        return { done: true, value: undefined }
      }
    },
    async return(): Promise<IteratorResult<Signal | undefined, undefined>> {
      close()
      await queue.return?.()
      return { done: true, value: undefined }
    },
    [Symbol.asyncIterator]: () => heard,
  }
  return heard
}

/** Resolves true at the next signal that passes the filter (or after a gap), false when the time is over or it is aborted. */
export function nextSignal(
  want: (signal: Signal) => boolean,
  timeoutMs: number,
  abort?: AbortSignal,
): { promise: Promise<boolean>; cancel(): void } {
  let finish: (value: boolean) => void = () => {}
  const promise = new Promise<boolean>(resolve => {
    const hear = (s: Signal) => want(s) && finish(true)
    const gap = () => finish(true)
    const stop = () => finish(false)
    const timer = setTimeout(stop, timeoutMs)
    finish = value => {
      clearTimeout(timer)
      bus().off('signal', hear).off('reconnected', gap)
      abort?.removeEventListener('abort', stop)
      resolve(value)
    }
    bus().on('signal', hear).on('reconnected', gap)
    abort?.addEventListener('abort', stop)
  })
  return { promise, cancel: () => finish(false) }
}

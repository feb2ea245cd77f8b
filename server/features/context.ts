import { randomBytes } from 'node:crypto'
import type { Actor, TokenActor } from '#core/actor.ts'
import { AppError } from '#core/error.ts'
import { type IdKind, makeId } from '#core/id.ts'
import { type Db, database } from '../db.ts'
import { env } from '../env.ts'

/** What every feature function gets: the clock is read once, at the door. */
export type FeatureContext<A extends Actor | TokenActor = Actor> = {
  db: Db
  actor: A
  now: Date
  random(bytes: number): Uint8Array
  /** The public address, for links. */
  origin: string
}

/** {@link openVisit} of somebody. */
export function openContext<A extends Actor | TokenActor>(actor: A): FeatureContext<A> {
  return { ...openVisit(), actor }
}

/** A visit: nobody is known yet. */
export type Visit = Omit<FeatureContext, 'actor'>

/** A context over the process's own database, clock and randomness, of nobody in particular. */
export const openVisit = (): Visit => ({
  db: database().prisma,
  now: new Date(),
  random: n => new Uint8Array(randomBytes(n)),
  origin: env().publicUrl,
})

/** A new row id. */
export const newId = (ctx: Pick<FeatureContext, 'random'>, kind: IdKind): string => makeId(kind, ctx.random(12))

/** Refuses in the same words whether a thing is missing or another organisation's. */
export const notFound = (what: string) => new AppError('NOT_FOUND', `There is no such ${what}.`)

import type { MemberActor } from '#core/actor.ts'
import { database } from '../db.ts'
import { readCookie } from './cookies.ts'
import { readActor } from './session.ts'

/** Who a request's cookies stand for; for doors outside server components. */
export const requestActor = (request: Request): Promise<MemberActor | null> =>
  readActor(
    database().prisma,
    { session: readCookie(request, 'session'), look: readCookie(request, 'look') },
    new Date(),
  )

import { initTRPC, TRPCError } from '@trpc/server'
import superjson from 'superjson'
import { z } from 'zod'
import type { MemberActor } from '#core/actor.ts'
import { AppError, isAppError } from '#core/error.ts'
import { openContext } from '../features/context.ts'
import { log } from '../log.ts'
import { toAppError } from './outage.ts'
import { STATUS } from './status.ts'

/** What a request brings: who is signed in, if anybody. The clock is read when the context is opened. */
export type ApiContext = {
  actor: MemberActor | null
  /** Whether this very request may see the demo mailbox (server/auth/demo-mode.ts). Absent: it may not. */
  mayReadDemoMail?: boolean
}

const t = initTRPC.context<ApiContext>().create({
  transformer: superjson,
  // A stream ends after five minutes and is opened anew: whoever lost their session or role meanwhile does not get another.
  sse: {
    maxDurationMs: 5 * 60_000,
    ping: { enabled: true, intervalMs: 15_000 },
    client: { reconnectAfterInactivityMs: 20_000 },
  },
  errorFormatter({ shape, error }) {
    const app = isAppError(error.cause) ? error.cause : undefined
    return {
      message: app?.message ?? publicMessage(error),
      code: shape.code,
      data: {
        code: shape.data.code,
        httpStatus: shape.data.httpStatus,
        app: app?.code,
        remedy: app?.remedy,
        details: app?.details,
      },
    }
  },
})

/** What a person reads of an error that is not ours: never a stack, never a library's words. */
function publicMessage(error: TRPCError): string {
  if (error.code === 'BAD_REQUEST') return 'The input is not of the form that this takes.'
  if (error.code === 'NOT_FOUND') return 'There is no such thing.'
  return 'Something went wrong on our side. Nothing was changed; try again.'
}

export const router = t.router
export const createCallerFactory = t.createCallerFactory

/** An error as tRPC's, by the one table: what is not ours is logged and hidden. */
export function asTrpcError(error: unknown, path: string): TRPCError {
  const known = isAppError(error) ? error : toAppError(error)
  if (known.code === 'INTERNAL' || known.code === 'UNAVAILABLE') log.error('api.failed', known.cause ?? known, { path })
  return new TRPCError({ code: STATUS[known.code].trpc, message: known.message, cause: known })
}

const translated = t.procedure.use(async ({ next, path }) => {
  const result = await next()
  if (result.ok) return result
  const { cause, code } = result.error
  if (!isAppError(cause) && code !== 'INTERNAL_SERVER_ERROR') return result
  throw asTrpcError(cause ?? result.error, path)
})

/** Anybody: sign-in state, health. */
export const open = translated

/** The demo mailbox: wherever it may not exist, it does not. */
export const demoMailbox = translated.use(({ ctx, next }) => {
  if (!ctx.mayReadDemoMail)
    throw new TRPCError({ code: 'NOT_FOUND', cause: new AppError('NOT_FOUND', 'There is no mailbox here.') })
  return next()
})

/** A signed-in person, whatever organisation is asked about. */
export const signedIn = translated.use(({ ctx, next }) => {
  if (!ctx.actor) throw new TRPCError({ code: 'UNAUTHORIZED', cause: new AppError('NOT_SIGNED_IN', 'Sign in first.') })
  return next({ ctx: { actor: ctx.actor } })
})

/**
 * A signed-in member of the organisation that the input names. A session sees its own organisation only: any other slug
 * is not found, in the same words as one that does not exist.
 */
export const inOrg = signedIn.input(z.object({ org: z.string().max(64) })).use(({ ctx, input, next }) => {
  if (ctx.actor.orgSlug !== input.org) {
    throw new TRPCError({ code: 'NOT_FOUND', cause: new AppError('NOT_FOUND', 'There is no such organisation.') })
  }
  return next({ ctx: { ...ctx, feature: openContext(ctx.actor) } })
})

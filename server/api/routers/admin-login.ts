import { z } from 'zod'
import { openContext } from '../../features/context.ts'
import { confirmAdminLogin, getAdminLogin } from '../../features/credential.ts'
import { router, signedIn } from '../trpc.ts'

const userCode = z.string().max(20)

/** The page /device: the code that the command shows is typed by hand, then confirmed or refused. */
export const adminLoginRouter = router({
  /** A mutation, because a look-up counts against the limit, and so that the code never stands in an address. */
  get: signedIn
    .input(z.object({ userCode }))
    .mutation(({ ctx, input }) => getAdminLogin(openContext(ctx.actor), input)),
  confirm: signedIn
    .input(z.object({ userCode, allow: z.boolean() }))
    .mutation(({ ctx, input }) => confirmAdminLogin(openContext(ctx.actor), input)),
})

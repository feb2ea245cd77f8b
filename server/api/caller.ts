import { cache } from 'react'
import { currentActor, mayReadDemoMail } from '../auth/current.ts'
import { appRouter } from './root.ts'
import { createCallerFactory } from './trpc.ts'

const createCaller = createCallerFactory(appRouter)

/** The same procedures that the browser calls, for server components: one actor and one caller a request. */
export const api = cache(async () =>
  createCaller({ actor: await currentActor(), mayReadDemoMail: await mayReadDemoMail() }),
)

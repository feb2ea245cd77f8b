import type { inferRouterOutputs } from '@trpc/server'
import type { AppRouter } from '#server/api/root.ts'

export type Settings = inferRouterOutputs<AppRouter>['settings']['get']
export type Connection = Settings['connections'][number]
export type Credential = Settings['credentials'][number]
export type KeyRow = Settings['keys'][number]

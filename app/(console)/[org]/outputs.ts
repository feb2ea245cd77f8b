import type { inferRouterOutputs } from '@trpc/server'
import type { AppRouter } from '#server/api/root.ts'

type Outputs = inferRouterOutputs<AppRouter>
/** What the API answers, as types for pages and their client parts. */
export type CurrentRuleSet = Outputs['boundary']['current']
export type DraftCheck = Outputs['boundary']['check']
export type Preview = Outputs['boundary']['preview']
export type Version = Outputs['boundary']['version']
export type VersionItem = Outputs['boundary']['history']['items'][number]
export type MachineRow = Outputs['machine']['list'][number]
export type MachineDetail = Outputs['machine']['get']
export type JoinLine = Outputs['machine']['joinLine']
export type Overview = Outputs['overview']['get']
export type EvidenceRow = Outputs['evidence']['list']['items'][number]
export type Session = NonNullable<Outputs['session']['current']>

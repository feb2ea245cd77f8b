import type { inferRouterOutputs } from '@trpc/server'
import type { AppRouter } from '#server/api/root.ts'
import type { TooOld } from './sign-in-again.tsx'

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
export type MemberRow = Outputs['member']['list']['members'][number]
export type InvitationRow = Outputs['member']['list']['invitations'][number]
/** Who reads the page: what their role and session let them do, as the server says. */
export type Reader = {
  role: MemberRow['role']
  rights: readonly string[]
  ownSignIn: boolean
  /** Why, and where to renew it, when the sign-in is too old for what makes and unmakes owners. */
  tooOld: TooOld | undefined
}
export type Settings = Outputs['settings']['get']
export type Connection = Settings['connections'][number]
export type Credential = Settings['credentials'][number]
export type ApiToken = Outputs['token']['list'][number]
export type KeyRow = Settings['keys'][number]
export type CurrencyRates = Outputs['spend']['currency']
export type PriceList = Outputs['rate']['list']
export type OwnPrices = Outputs['rate']['own']
export type UnpricedModels = Outputs['rate']['unpriced']
export type RepricePreview = Outputs['rate']['previewReprice']
export type AttributionInForce = Outputs['attribution']['inForce']
export type Unattributed = Outputs['attribution']['why']
export type Unlisted = Outputs['attribution']['unlisted']
export type TenantRow = Outputs['tenant']['list'][number]
export type GrantRow = Outputs['spend']['grants'][number]
export type ApprovalRow = Outputs['approval']['list']['items'][number]
export type ApprovalDetail = Outputs['approval']['get']

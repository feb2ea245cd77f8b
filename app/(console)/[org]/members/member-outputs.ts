import type { inferRouterOutputs } from '@trpc/server'
import type { AppRouter } from '#server/api/root.ts'

type Members = inferRouterOutputs<AppRouter>['member']['list']
export type MemberRow = Members['members'][number]
export type InvitationRow = Members['invitations'][number]
/** Who reads the page: what their role and session let them do, as the server says. */
export type Reader = { role: MemberRow['role']; rights: readonly string[]; ownSignIn: boolean }

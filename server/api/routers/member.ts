import { z } from 'zod'
import { ALL_ROLES } from '#core/role.ts'
import { inviteMember, revokeInvitation } from '../../features/invitation.ts'
import { changeRole, listMembers, removeMember, signOutEverywhere } from '../../features/member.ts'
import { inOrg, router } from '../trpc.ts'

const id = z.object({ id: z.string().max(64) })
const role = z.enum(ALL_ROLES)

export const memberRouter = router({
  list: inOrg.query(({ ctx }) => listMembers(ctx.feature)),
  invite: inOrg
    .input(z.object({ email: z.string().max(320), name: z.string().max(200), role }))
    .mutation(({ ctx, input }) => inviteMember(ctx.feature, input)),
  revokeInvitation: inOrg.input(id).mutation(({ ctx, input }) => revokeInvitation(ctx.feature, input)),
  changeRole: inOrg.input(id.extend({ role })).mutation(({ ctx, input }) => changeRole(ctx.feature, input)),
  remove: inOrg.input(id).mutation(({ ctx, input }) => removeMember(ctx.feature, input)),
  signOutEverywhere: inOrg.input(id).mutation(({ ctx, input }) => signOutEverywhere(ctx.feature, input)),
})

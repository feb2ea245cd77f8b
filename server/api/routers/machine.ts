import { z } from 'zod'
import { makeJoinLine } from '../../features/join-line.ts'
import { revokeMachine } from '../../features/machine.ts'
import { getMachine, listMachines } from '../../features/machine-list.ts'
import { reportLaptopLost } from '../../features/member.ts'
import { inOrg, router } from '../trpc.ts'

const id = z.string().max(40)

export const machineRouter = router({
  list: inOrg.query(({ ctx }) => listMachines(ctx.feature)),
  get: inOrg.input(z.object({ id })).query(({ ctx, input }) => getMachine(ctx.feature, input)),
  joinLine: inOrg
    .input(z.object({ memberId: id.optional(), label: z.string().max(80).optional() }))
    .mutation(({ ctx, input }) => makeJoinLine(ctx.feature, input)),
  revoke: inOrg.input(z.object({ id })).mutation(({ ctx, input }) => revokeMachine(ctx.feature, input)),
  lost: inOrg.input(z.object({ memberId: id })).mutation(({ ctx, input }) => reportLaptopLost(ctx.feature, input)),
})

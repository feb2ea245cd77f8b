import { z } from 'zod'
import { SELF_ANSWERS } from '#core/boundary/shape.ts'
import { KEY_ROLES } from '#core/key.ts'
import { discoverProvider } from '../../auth/oidc-discovery.ts'
import { addConnection, removeConnection } from '../../features/connection.ts'
import { revokeCredential } from '../../features/credential.ts'
import { confirmRestore } from '../../features/restore.ts'
import { rotateKey } from '../../features/root.ts'
import { getSettings, updateSettings } from '../../features/settings.ts'
import { inOrg, router } from '../trpc.ts'

const id = z.object({ id: z.string().max(64) })

export const settingsRouter = router({
  get: inOrg.query(({ ctx }) => getSettings(ctx.feature)),
  update: inOrg
    .input(
      z.object({
        name: z.string().max(200).optional(),
        selfAnswer: z.enum(SELF_ANSWERS).optional(),
        whenBroken: z.enum(['pass', 'block']).optional(),
        maxAgeS: z.number().int().optional(),
        adminCredential: z.boolean().optional(),
      }),
    )
    .mutation(({ ctx, input: { org: _, ...change } }) => updateSettings(ctx.feature, change)),
  rotateKey: inOrg
    .input(z.object({ role: z.enum([...KEY_ROLES, 'owner']) }))
    .mutation(({ ctx, input }) => rotateKey(ctx.feature, input)),
  addConnection: inOrg
    .input(
      z.object({
        name: z.string().max(100),
        issuer: z.string().max(300),
        clientId: z.string().max(300),
        clientSecret: z.string().max(1000),
        domains: z.array(z.string().max(253)).max(50).default([]),
      }),
    )
    .mutation(({ ctx, input }) => addConnection(ctx.feature, input, discoverProvider)),
  removeConnection: inOrg.input(id).mutation(({ ctx, input }) => removeConnection(ctx.feature, input)),
  revokeCredential: inOrg.input(id).mutation(({ ctx, input }) => revokeCredential(ctx.feature, input)),
  confirmRestore: inOrg.mutation(({ ctx }) => confirmRestore(ctx.feature)),
})

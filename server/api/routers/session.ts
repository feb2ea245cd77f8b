import { z } from 'zod'
import { rightsOf } from '#core/permission.ts'
import { countWaiting } from '../../features/approval/read.ts'
import { offeredConnections } from '../../features/connection.ts'
import { openContext, openVisit } from '../../features/context.ts'
import { listDemoMail, listDemoMembers, readDemoMail } from '../../features/demo-mail.ts'
import { readInvitation } from '../../features/invitation.ts'
import { currentOrganisation } from '../../features/organisation-read.ts'
import { organisationsOf } from '../../features/session.ts'
import { demoMailbox, open, router } from '../trpc.ts'

export const sessionRouter = router({
  /** Who is signed in, where, and what they may do; null for nobody. */
  current: open.query(async ({ ctx: { actor } }) => {
    if (!actor) return null
    const feature = openContext(actor)
    const [org, organisations, waiting] = await Promise.all([
      currentOrganisation(feature),
      organisationsOf(feature.db, actor),
      countWaiting(feature),
    ])
    const { memberId: id, name, email, role, method, demo, authnAt } = actor
    return {
      member: { id, name, email, role, method, demo, authnAt },
      org,
      organisations,
      rights: rightsOf(actor),
      waiting,
    }
  }),
  /** The providers of an organisation, by its slug: names only, and none for an organisation that does not exist. */
  connections: open
    .input(z.object({ org: z.string().max(64) }))
    .query(({ input }) => offeredConnections(openVisit().db, input.org)),
  /** What an invitation's link shows; null when it is not open. Reading it changes nothing. */
  invitation: open
    .input(z.object({ token: z.string().max(100) }))
    .query(async ({ input }) => (await readInvitation(openVisit(), input.token)) ?? null),
  /** Whom one can sign in as in the demo organisation: not found wherever this request may not see the demo mailbox. */
  demoMembers: demoMailbox
    .input(z.object({ org: z.string().max(64).optional() }))
    .query(({ input }) => listDemoMembers(openVisit().db, input.org)),
  /** The demo mailbox: not found wherever this request may not see it. */
  mailbox: demoMailbox
    .input(z.object({ to: z.string().max(320).optional() }))
    .query(({ input }) => listDemoMail(openVisit().db, input.to ? { to: input.to } : {})),
  mail: demoMailbox
    .input(z.object({ id: z.string().max(200) }))
    .query(({ input }) => readDemoMail(openVisit().db, input.id)),
})

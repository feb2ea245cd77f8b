import { adminLoginRouter } from './routers/admin-login.ts'
import { approvalRouter } from './routers/approval.ts'
import { attributionRouter } from './routers/attribution.ts'
import { boundaryRouter } from './routers/boundary.ts'
import { budgetRouter } from './routers/budget.ts'
import { evidenceRouter } from './routers/evidence.ts'
import { invoiceRouter } from './routers/invoice.ts'
import { machineRouter } from './routers/machine.ts'
import { memberRouter } from './routers/member.ts'
import { overviewRouter } from './routers/overview.ts'
import { rateRouter } from './routers/rate.ts'
import { sessionRouter } from './routers/session.ts'
import { settingsRouter } from './routers/settings.ts'
import { spendRouter } from './routers/spend.ts'
import { statementRouter } from './routers/statement.ts'
import { tenantRouter } from './routers/tenant.ts'
import { tokenRouter } from './routers/token.ts'
import { router } from './trpc.ts'

/** Everything that people's pages call. Connectors and credentials have /api/v1. */
export const appRouter = router({
  adminLogin: adminLoginRouter,
  approval: approvalRouter,
  attribution: attributionRouter,
  boundary: boundaryRouter,
  budget: budgetRouter,
  evidence: evidenceRouter,
  invoice: invoiceRouter,
  machine: machineRouter,
  member: memberRouter,
  overview: overviewRouter,
  rate: rateRouter,
  session: sessionRouter,
  settings: settingsRouter,
  spend: spendRouter,
  statement: statementRouter,
  tenant: tenantRouter,
  token: tokenRouter,
})
/** The one thing of the server that client parts may import, as a type. */
export type AppRouter = typeof appRouter

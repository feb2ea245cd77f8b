import { ReleaseBody, ReserveBody, SettleBody } from '#core/budget/fleet.ts'
import { AppError } from '#core/error.ts'
import { HANDLE } from '#core/id.ts'
import { REPORT_BODY_MAX, USAGE_BODY_MAX } from '#core/limits.ts'
import { FileBody, FRESH_HEADER, JoinBody, ReportBody, WithdrawBody } from '#core/protocol.ts'
import { UsageBody } from '#core/usage/upload.ts'
import { clientAddress } from '../auth/client-address.ts'
import { fileRequest } from '../features/approval/file-request.ts'
import { answersAfter, withdrawByMachine } from '../features/approval/machine.ts'
import { release, reserve, settle } from '../features/budget/reserve.ts'
import { budgetsFor } from '../features/budget/serve.ts'
import { freshFor, servedRules } from '../features/fresh.ts'
import { joinMachine } from '../features/join.ts'
import { leave } from '../features/machine.ts'
import { makeDeviceLink } from '../features/one-time-sign-in.ts'
import { takeReport } from '../features/report/report.ts'
import { rootsAfter } from '../features/root.ts'
import { takeUsage } from '../features/usage/take.ts'
import { waitForNews } from '../features/wait.ts'
import { machineRoute, openRoute } from './connector-route.ts'

/** A whole number of the query, 0 when absent. */
function wholeNumber(query: URLSearchParams, name: string): number {
  const text = query.get(name) ?? '0'
  if (!/^\d{1,9}$/.test(text)) throw new AppError('BAD_INPUT', `${name} is not a whole number.`)
  return Number(text)
}

/** The handle of a path; another spelling is not found, as any other that does not exist. */
export function handleOf(params: Record<string, string>): string {
  const { handle = '' } = params
  if (!HANDLE.test(handle)) throw new AppError('NOT_FOUND', 'There is no such request.')
  return handle
}

export const postJoin = openRoute(JoinBody, ({ ctx, body, request }) =>
  joinMachine(ctx, body, clientAddress(request.headers)),
)

export const getRoots = machineRoute('roots', undefined, async ({ ctx, query }) => ({
  roots: await rootsAfter(ctx.db, ctx.actor.orgId, wholeNumber(query, 'after')),
}))

export const getRules = machineRoute('rules', undefined, async ({ ctx, request }) => {
  const served = await servedRules(ctx)
  const fresh = await freshFor(ctx, served)
  // `no-cache` and not `no-store`: a proxy may keep the bytes, never answer without asking.
  const headers: Record<string, string> = { [FRESH_HEADER]: fresh, 'cache-control': 'private, no-cache' }
  if (served.etag === undefined || served.jws === undefined) return new Response(null, { status: 204, headers })
  headers.etag = served.etag
  if (namesTag(request.headers.get('if-none-match'), served.etag)) return new Response(null, { status: 304, headers })
  return new Response(served.jws, { headers: { ...headers, 'content-type': 'application/jose' } })
})

/** RFC 9110 §13.1.2: a list of tags, compared weakly (a proxy that compresses marks ours as weak). */
const namesTag = (header: string | null, etag: string): boolean =>
  (header ?? '').split(',').some(tag => tag.trim().replace(/^W\//, '') === etag)

export const getWait = machineRoute('wait', undefined, ({ ctx, query, request }) =>
  waitForNews(ctx, { rules: query.get('rules') ?? '', answers: wholeNumber(query, 'answers'), abort: request.signal }),
)

export const postApproval = machineRoute('approvals', FileBody, ({ ctx, body }) => fileRequest(ctx, body))

export const postWithdraw = machineRoute('approvals', WithdrawBody, ({ ctx, body, params }) =>
  withdrawByMachine(ctx, { handle: handleOf(params), ...body }),
)

export const getAnswers = machineRoute('answers', undefined, ({ ctx, query }) =>
  answersAfter(ctx, { after: wholeNumber(query, 'after') }),
)

export const postReport = machineRoute('reports', ReportBody, ({ ctx, body }) => takeReport(ctx, body), REPORT_BODY_MAX)

export const postUsage = machineRoute('usage', UsageBody, ({ ctx, body }) => takeUsage(ctx, body), USAGE_BODY_MAX)

export const getBudgets = machineRoute('budgets', undefined, async ({ ctx }) => {
  const headers = { 'content-type': 'application/jose', 'cache-control': 'no-store' }
  return new Response(await budgetsFor(ctx), { headers })
})

export const postReservation = machineRoute('reservations', ReserveBody, ({ ctx, body }) => reserve(ctx, body))

export const postSettle = machineRoute('reservations', SettleBody, ({ ctx, body, params }) =>
  settle(ctx, { id: params.id ?? '', ...body }),
)

export const postRelease = machineRoute('reservations', ReleaseBody, ({ ctx, params }) =>
  release(ctx, { id: params.id ?? '' }),
)

export const deleteMachine = machineRoute('machine', undefined, async ({ ctx }) => {
  await leave(ctx)
  return undefined
})

/** A look-only sign-in for the machine's own member (`team web`). */
export const postSignInLink = machineRoute('sign-in-links', undefined, ({ ctx }) => makeDeviceLink(ctx))

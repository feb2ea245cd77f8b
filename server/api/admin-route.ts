import * as z from 'zod/mini'
import { Ceiling } from '#core/approval/answer.ts'
import { AppError } from '#core/error.ts'
import { BOUNDARIES_TEXT_MAX, NOTE_MAX, REASON_MAX } from '#core/limits.ts'
import { SLUG } from '#core/slug.ts'
import { clientAddress } from '../auth/client-address.ts'
import { answerApproval } from '../features/approval/answer.ts'
import { getApproval, listApprovals } from '../features/approval/read.ts'
import { pollAdminLogin, revokeCredential, startAdminLogin } from '../features/credential.ts'
import { demandRate } from '../features/rate.ts'
import { publishRuleSet } from '../features/rule-set.ts'
import { currentRuleSet } from '../features/rule-set-history.ts'
import { handleOf } from './connector.ts'
import { credentialRoute, openRoute } from './connector-route.ts'

/**
 * What `holdpoint team admin …` calls, below /api/v1/admin. The login (RFC 8628) takes no token; the rest takes the credential
 * that it gives, which may publish boundaries and answer other people's requests, and nothing else.
 *
 *   POST   login                    {org, label} -> {deviceCode, userCode, url, interval, expiresAt}
 *   POST   token                    {deviceCode} -> {pending: true} or {token, expiresAt, member, org}
 *   DELETE token                    ends the credential
 *   GET    boundaries               -> {version, text, etag, digest}
 *   PUT    boundaries, If-Match     {text, note} -> {version, digest, etag, warnings, behind}; 412 STALE_EDIT
 *   GET    approvals                -> {items}
 *   POST   approvals/HANDLE/answer  {decision, scope, until, reason} -> {handle, state, votes, approvals, settled, missing}
 */
const LoginBody = z.strictObject({
  org: z.string().check(z.regex(SLUG)),
  label: z.string().check(z.minLength(1), z.maxLength(63)),
})

export const postLogin = openRoute(LoginBody, async ({ ctx, body, request }) => {
  await demandRate(ctx, 'adminLoginByAddress', clientAddress(request.headers))
  const { deviceCode, userCode, verificationUrl, expiresAt, intervalS } = await startAdminLogin(ctx, body)
  return { deviceCode, userCode, url: verificationUrl, interval: intervalS, expiresAt }
})

export const postToken = openRoute(
  z.strictObject({ deviceCode: z.string().check(z.maxLength(64)) }),
  async ({ ctx, body }) => {
    const poll = await pollAdminLogin(ctx, body)
    switch (poll.state) {
      case 'pending':
      case 'slow_down':
        return { pending: true }
      case 'denied':
        throw new AppError('FORBIDDEN', 'The sign-in was refused in the browser.')
      case 'expired':
        throw new AppError('EXPIRED', 'The sign-in was not allowed in time, or was used already.', {
          remedy: 'Run holdpoint team admin login again.',
        })
      case 'issued':
        return { token: poll.token, expiresAt: poll.expiresAt, member: poll.member }
    }
  },
)

export const deleteToken = credentialRoute(undefined, async ({ ctx }) => {
  await revokeCredential(ctx, { id: ctx.actor.credentialId })
  return undefined
})

export const getBoundaries = credentialRoute(undefined, async ({ ctx }) => {
  const { version, text, etag, digest } = await currentRuleSet(ctx)
  return { version, text, etag, digest }
})

const PublishBody = z.strictObject({
  text: z.string().check(z.maxLength(BOUNDARIES_TEXT_MAX)),
  note: z.string().check(z.maxLength(NOTE_MAX)),
})

export const putBoundaries = credentialRoute(PublishBody, async ({ ctx, body, request }) => {
  const etag = request.headers.get('if-match')
  if (!etag)
    throw new AppError(
      'BAD_INPUT',
      'Publishing needs the header If-Match with the version your text was written against.',
    )
  return publishRuleSet(ctx, { ...body, etag: etag.trim() })
})

export const getWaiting = credentialRoute(undefined, ({ ctx }) => listApprovals(ctx, { state: 'waiting' }))

const AnswerBody = z.strictObject({
  decision: z.enum(['approve', 'deny']),
  scope: z._default(z.enum(['step', 'session']), 'step'),
  until: z._default(z.array(Ceiling).check(z.maxLength(8)), []),
  reason: z._default(z.string().check(z.maxLength(REASON_MAX)), ''),
})

export const postAnswer = credentialRoute(AnswerBody, async ({ ctx, body, params }) => {
  const handle = handleOf(params)
  const { settled, missing } = await answerApproval(ctx, { handle, ...body })
  const { state, votes, approvals } = await getApproval(ctx, { handle })
  return { handle, state, votes, approvals, settled, missing }
})

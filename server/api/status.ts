import type { TRPC_ERROR_CODE_KEY } from '@trpc/server'
import type { ErrorCode } from '#core/error.ts'

/** Error code → HTTP status and tRPC code: the only table of the kind. */
export const STATUS: Record<ErrorCode, { http: number; trpc: TRPC_ERROR_CODE_KEY }> = {
  BAD_INPUT: { http: 400, trpc: 'BAD_REQUEST' },
  TOO_LARGE: { http: 413, trpc: 'PAYLOAD_TOO_LARGE' },
  NOT_SIGNED_IN: { http: 401, trpc: 'UNAUTHORIZED' },
  FORBIDDEN: { http: 403, trpc: 'FORBIDDEN' },
  NOT_FOUND: { http: 404, trpc: 'NOT_FOUND' },
  CONFLICT: { http: 409, trpc: 'CONFLICT' },
  STALE_EDIT: { http: 412, trpc: 'PRECONDITION_FAILED' },
  NOT_PENDING: { http: 409, trpc: 'CONFLICT' },
  EXPIRED: { http: 410, trpc: 'CONFLICT' },
  NOT_APPROVER: { http: 403, trpc: 'FORBIDDEN' },
  OWN_REQUEST: { http: 403, trpc: 'FORBIDDEN' },
  RESTORED: { http: 409, trpc: 'CONFLICT' },
  BAD_SIGNATURE: { http: 400, trpc: 'BAD_REQUEST' },
  RATE_LIMITED: { http: 429, trpc: 'TOO_MANY_REQUESTS' },
  UNAVAILABLE: { http: 503, trpc: 'SERVICE_UNAVAILABLE' },
  INTERNAL: { http: 500, trpc: 'INTERNAL_SERVER_ERROR' },
}

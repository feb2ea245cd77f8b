import { fetchRequestHandler } from '@trpc/server/adapters/fetch'
import { INVOICE_BODY_MAX } from '#core/limits.ts'
import { appRouter } from '#server/api/root.ts'
import { asTrpcError } from '#server/api/trpc.ts'
import { isDirectLocal } from '#server/auth/demo-mode.ts'
import { isOwnOrigin } from '#server/auth/origin.ts'
import { requestActor } from '#server/auth/request-actor.ts'

/** A text of boundaries at its limit, as JSON, several times over. */
const BODY_MAX = 2 * 1024 * 1024
/** The one call that brings a file; it comes by itself. */
const FILE_PATH = '/api/trpc/invoice.import'
/** A page asks a handful of things at once; some may be asked by nobody in particular. */
const BATCH_MAX = 50

/** Mutations come by POST, and only from our own pages: SameSite does not keep other ports of localhost out. */
async function handle(request: Request): Promise<Response> {
  if (request.method === 'POST' && !isOwnOrigin(request))
    return new Response(null, { status: 403, headers: { 'cache-control': 'no-store' } })
  const length = request.headers.get('content-length')
  const most = new URL(request.url).pathname === FILE_PATH ? INVOICE_BODY_MAX : BODY_MAX
  if (request.method === 'POST' && (length === null || Number(length) > most)) {
    return new Response(null, { status: length === null ? 411 : 413, headers: { 'cache-control': 'no-store' } })
  }
  return fetchRequestHandler({
    endpoint: '/api/trpc',
    req: request,
    router: appRouter,
    // Queries with a whole draft in them come by POST too.
    allowMethodOverride: true,
    maxBatchSize: BATCH_MAX,
    createContext: async () => ({
      actor: await requestActor(request).catch((error: unknown) => {
        throw asTrpcError(error, 'actor')
      }),
      mayReadDemoMail: isDirectLocal(request.headers),
    }),
    responseMeta: () => ({ headers: new Headers({ 'cache-control': 'no-store' }) }),
  })
}

export { handle as GET, handle as POST }

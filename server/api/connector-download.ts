import { connectorBundle } from '../features/connector-bundle.ts'

const missing = () =>
  Response.json(
    {
      error: {
        code: 'NOT_FOUND',
        message: 'There is no such connector here.',
        remedy: 'Take a new line from the Machines page.',
      },
    },
    { status: 404, headers: { 'cache-control': 'no-store' } },
  )

/** The connector at an address that names its content: kept for ever by whoever caches it, and another content is another address. */
export async function getConnector(
  request: Request,
  context: { params: Promise<Record<string, string>> },
): Promise<Response> {
  const { sha256 } = await context.params
  const bundle = await connectorBundle()
  if (!bundle || bundle.sha256 !== sha256) return missing()
  const headers = {
    'cache-control': 'public, max-age=31536000, immutable',
    'content-type': 'text/javascript; charset=utf-8',
    'content-disposition': 'attachment; filename="holdpoint.cjs"',
    etag: `"${bundle.sha256}"`,
  }
  if (request.headers.get('if-none-match') === headers.etag) return new Response(null, { status: 304, headers })
  return new Response(new Uint8Array(bundle.code), { headers: { ...headers, 'content-length': String(bundle.size) } })
}

/** Which connector this control plane hands out right now. */
export async function getManifest(): Promise<Response> {
  const bundle = await connectorBundle()
  if (!bundle) return missing()
  const { version, sha256, size } = bundle
  return Response.json(
    { version, sha256, bytes: size, path: `/connector/${sha256}/holdpoint.cjs` },
    { headers: { 'cache-control': 'no-cache' } },
  )
}

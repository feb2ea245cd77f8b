import { type NextRequest, NextResponse } from 'next/server'

/**
 * Headers of every page, and nothing else: who may see what is decided in procedures, pages and doors, never here. The content
 * security policy carries a nonce per request, which Next puts on its own scripts and styles; nothing inline runs without it.
 * Forms lead to ourselves only, and no frame may hold us.
 */
export function proxy(request: NextRequest): NextResponse {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  const nonce = btoa(String.fromCharCode(...bytes))
  const policy = policyOf(nonce, process.env.NODE_ENV === 'development')
  const headers = new Headers(request.headers)
  headers.set('x-nonce', nonce)
  headers.set('content-security-policy', policy)
  headers.set('x-holdpoint-path', `${request.nextUrl.pathname}${request.nextUrl.search}`)
  const response = NextResponse.next({ request: { headers } })
  response.headers.set('content-security-policy', policy)
  return response
}

/** The development server needs eval and inline styles for its own tools. */
function policyOf(nonce: string, isDevelopment: boolean): string {
  return [
    "default-src 'self'",
    `script-src 'self' 'nonce-${nonce}' 'strict-dynamic'${isDevelopment ? " 'unsafe-eval'" : ''}`,
    isDevelopment ? "style-src 'self' 'unsafe-inline'" : `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ')
}

export const config = {
  matcher: ['/((?!_next/static|_next/image|api/|auth/|connector/|healthz$|icon.svg$|favicon.ico$|robots.txt$).*)'],
}

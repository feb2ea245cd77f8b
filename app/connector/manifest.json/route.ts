export { getManifest as GET } from '#server/api/connector-download.ts'

export const dynamic = 'force-dynamic'

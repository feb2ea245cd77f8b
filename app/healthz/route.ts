export { getHealth as GET } from '#server/api/health.ts'

export const dynamic = 'force-dynamic'

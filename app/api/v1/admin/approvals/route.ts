export { getWaiting as GET } from '#server/api/admin-route.ts'

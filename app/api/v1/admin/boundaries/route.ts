export { getBoundaries as GET, putBoundaries as PUT } from '#server/api/admin-route.ts'

export { postAnswer as POST } from '#server/api/admin-route.ts'

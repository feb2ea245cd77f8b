export { postLogin as POST } from '#server/api/admin-route.ts'

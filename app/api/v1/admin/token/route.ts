export { deleteToken as DELETE, postToken as POST } from '#server/api/admin-route.ts'

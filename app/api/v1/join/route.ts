export { postJoin as POST } from '#server/api/connector.ts'

export { postUsage as POST } from '#server/api/connector.ts'

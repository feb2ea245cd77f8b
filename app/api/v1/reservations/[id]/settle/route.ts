export { postSettle as POST } from '#server/api/connector.ts'

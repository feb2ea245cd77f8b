export { postApproval as POST } from '#server/api/connector.ts'

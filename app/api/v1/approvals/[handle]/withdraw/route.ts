export { postWithdraw as POST } from '#server/api/connector.ts'

export { postReport as POST } from '#server/api/connector.ts'

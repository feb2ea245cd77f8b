export { postRelease as POST } from '#server/api/connector.ts'

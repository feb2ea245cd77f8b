export { postSignInLink as POST } from '#server/api/connector.ts'

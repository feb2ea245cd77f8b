export { getRules as GET } from '#server/api/connector.ts'

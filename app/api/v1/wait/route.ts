export { getWait as GET } from '#server/api/connector.ts'

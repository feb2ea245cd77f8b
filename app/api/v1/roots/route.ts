export { getRoots as GET } from '#server/api/connector.ts'

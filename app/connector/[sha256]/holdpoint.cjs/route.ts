export { getConnector as GET } from '#server/api/connector-download.ts'

export { getBudgets as GET } from '#server/api/connector.ts'

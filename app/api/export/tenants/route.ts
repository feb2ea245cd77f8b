export { tenantsCsv as GET } from '#server/api/spend-csv-doors.ts'

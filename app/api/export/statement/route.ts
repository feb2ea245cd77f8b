export { statementCsv as GET } from '#server/api/csv-doors.ts'

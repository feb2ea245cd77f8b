export { statementsCsv as GET } from '#server/api/csv-doors.ts'

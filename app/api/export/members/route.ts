export { memberCsv as GET } from '#server/api/csv-doors.ts'

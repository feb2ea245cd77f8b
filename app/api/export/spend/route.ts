export { spendCsv as GET } from '#server/api/csv-doors.ts'

export { invoiceCsv as GET } from '#server/api/csv-doors.ts'

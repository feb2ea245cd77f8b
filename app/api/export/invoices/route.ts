export { invoicesCsv as GET } from '#server/api/csv-doors.ts'

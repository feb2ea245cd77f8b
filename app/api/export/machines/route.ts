export { machineCsv as GET } from '#server/api/csv-doors.ts'

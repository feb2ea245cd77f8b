export { keysCsv as GET } from '#server/api/settings-csv-doors.ts'

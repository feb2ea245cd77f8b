export { unlistedCsv as GET } from '#server/api/spend-csv-doors.ts'

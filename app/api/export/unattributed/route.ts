export { unattributedCsv as GET } from '#server/api/spend-csv-doors.ts'

export { approvalCsv as GET } from '#server/api/csv-doors.ts'

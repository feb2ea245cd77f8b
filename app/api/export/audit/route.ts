export { auditCsv as GET } from '#server/api/csv-doors.ts'

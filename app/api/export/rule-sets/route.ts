export { ruleSetCsv as GET } from '#server/api/csv-doors.ts'

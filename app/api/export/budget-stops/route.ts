export { budgetStopsCsv as GET } from '#server/api/spend-csv-doors.ts'

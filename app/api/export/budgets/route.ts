export { budgetsCsv as GET } from '#server/api/spend-csv-doors.ts'

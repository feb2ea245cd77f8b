export { figuresGrantsCsv as GET } from '#server/api/spend-csv-doors.ts'

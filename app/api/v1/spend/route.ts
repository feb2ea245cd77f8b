export { getSpend as GET } from '#server/api/program-doors.ts'

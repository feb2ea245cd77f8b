export { getFocus as GET } from '#server/api/program-doors.ts'

export { focusFile as GET } from '#server/api/csv-doors.ts'

export { getMemberCsv as GET } from '#server/api/member-export.ts'

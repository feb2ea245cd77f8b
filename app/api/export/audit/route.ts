export { getAuditCsv as GET } from '#server/api/audit-export.ts'

export { getAnswers as GET } from '#server/api/connector.ts'

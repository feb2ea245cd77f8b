export { deleteMachine as DELETE } from '#server/api/connector.ts'

export { postReservation as POST } from '#server/api/connector.ts'

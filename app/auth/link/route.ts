import { linkDoor } from '#server/api/sign-in-doors.ts'

export const { GET, HEAD, POST } = linkDoor

import { deviceLinkDoor } from '#server/api/sign-in-doors.ts'

export const { GET, HEAD, POST } = deviceLinkDoor

import { singleSignOnDoor } from '#server/api/oidc-doors.ts'

export const { GET, HEAD, POST } = singleSignOnDoor

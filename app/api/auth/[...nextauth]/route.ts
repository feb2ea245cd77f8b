import { libraryDoor } from '#server/api/oidc-doors.ts'

type Context = { params: Promise<{ nextauth: string[] }> }

export const GET = async (request: Request, { params }: Context) => libraryDoor.GET(request, (await params).nextauth)
export const HEAD = libraryDoor.HEAD

/**
 * The text of a request's body, or undefined when it is longer than `most` bytes: told by its length where it has one, and
 * else by counting, so that a body without a length is never gathered whole. Throws a TypeError on bytes that are not UTF-8.
 */
export async function readText(request: Request, most: number): Promise<string | undefined> {
  if (Number(request.headers.get('content-length') ?? 0) > most) return undefined
  if (!request.body) return ''
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
    size += chunk.length
    if (size > most) return undefined
    chunks.push(chunk)
  }
  return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks))
}

/**
 * Whether an error is the database's own refusal of that name (prisma/migrations, guards): a check, a trigger or a unique
 * index. The client wraps them in several layers; the name is unique among them.
 */
export function isRefusal(error: unknown, name: string): boolean {
  const seen = new Set<unknown>()
  for (let at: unknown = error; at && typeof at === 'object' && !seen.has(at); at = (at as { cause?: unknown }).cause) {
    seen.add(at)
    const { message = '', meta } = at as { message?: string; meta?: unknown }
    if (message.includes(name) || JSON.stringify(meta ?? '').includes(name)) return true
  }
  return false
}

/** Runs once in each server process, before it serves. */
export async function register(): Promise<void> {
  if (process.env.NEXT_RUNTIME !== 'nodejs' || process.env.NEXT_PHASE === 'phase-production-build') return
  const { startBackground } = await import('#server/boot/background.ts')
  startBackground()
}

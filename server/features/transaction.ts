/** For transactions that many callers want at once: waits for a place in the pool rather than failing after two seconds, the client's default. */
export const PATIENT = { maxWait: 15_000, timeout: 30_000 }

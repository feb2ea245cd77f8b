/** Set by proxy.ts on every page request: path and query, so that sign-in can lead back. Never trusted beyond that. */
export const PATH_HEADER = 'x-holdpoint-path'

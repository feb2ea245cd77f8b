/** The person's own folder and the few environment variables that move the client's configuration. */
export type ClientHome = { homeDir: string; env: Readonly<Record<string, string | undefined>> }

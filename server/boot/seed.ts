// What a database without an organisation is given on the first start. Prints one JSON line for the launcher.

/** What the launcher shows: `signInUrl`, a one-time address that signs the first owner in. */
export type Seeded = { signInUrl?: string }

const seeded: Seeded = {}
process.stdout.write(`${JSON.stringify(seeded)}\n`)

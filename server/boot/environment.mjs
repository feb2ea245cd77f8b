// What the server's processes are told, and where this installation keeps its own things.
import crypto from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

/** The clone. */
export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..')

/** A data folder of this start only, gone after it: for tests and for a look around. */
const TEMPORARY = 'temporary'
let temporary

/** HOLDPOINT_DATA, else `.data` in the clone; made when missing. */
export function dataFolder() {
  if (process.env.HOLDPOINT_DATA === TEMPORARY) {
    temporary = process.env.HOLDPOINT_DATA = fs.mkdtempSync(path.join(os.tmpdir(), 'holdpoint-'))
    fs.chmodSync(temporary, 0o711) // PostgreSQL may run as another user, which must be able to pass through
  }
  const folder = path.resolve(process.env.HOLDPOINT_DATA ?? path.join(root, '.data'))
  try {
    fs.mkdirSync(folder, { recursive: true })
    fs.accessSync(folder, fs.constants.W_OK)
  } catch (error) {
    throw new Error(
      `cannot write to the data folder ${folder} (${error.code}): start as its owner, or set HOLDPOINT_DATA`,
    )
  }
  return folder
}

/** Removes the data folder if it was made for this start only. */
export function removeTemporary() {
  if (temporary) fs.rmSync(temporary, { recursive: true, force: true })
}

/** PORT, else 3000. */
export function wantedPort() {
  const port = Number(process.env.PORT || 3000)
  if (!Number.isInteger(port) || port < 1 || port > 65535)
    throw new Error(`PORT=${process.env.PORT} is not a port number`)
  return port
}

/** HOST, else this machine only. */
export function wantedHost() {
  return process.env.HOST || '127.0.0.1'
}

/** The address that browsers and machines use. */
export function publicUrl() {
  return (process.env.HOLDPOINT_PUBLIC_URL ?? `http://localhost:${wantedPort()}`).replace(/\/+$/, '')
}

/**
 * The other address of `localhost`, which listening on this one does not take; undefined where nobody is sent to localhost.
 * @param {string} host
 */
export function loopbackTwin(host) {
  if (!URL.canParse(publicUrl()) || new URL(publicUrl()).hostname !== 'localhost') return undefined
  if (['127.0.0.1', '0.0.0.0'].includes(host)) return '::1'
  return host === '::1' ? '127.0.0.1' : undefined
}

/**
 * The key that keeps the signing keys' custody and peppers: outside the database on purpose, 32 random bytes, base64url.
 * HOLDPOINT_SECRET where set (several replicas must share one), else kept in the data folder, readable by its owner only.
 * @param {string} data
 */
function secretOf(data) {
  if (process.env.HOLDPOINT_SECRET) return process.env.HOLDPOINT_SECRET
  const file = path.join(data, 'secret')
  if (!fs.existsSync(file)) {
    const fresh = `${file}.${process.pid}`
    fs.writeFileSync(fresh, crypto.randomBytes(32).toString('base64url'), { mode: 0o600 })
    try {
      fs.linkSync(fresh, file) // unlike a rename, never replaces a secret that another process has just made
    } catch (error) {
      if (error.code !== 'EEXIST') throw error
    }
    fs.rmSync(fresh)
  }
  return fs.readFileSync(file, 'utf8').trim()
}

/**
 * The environment of the server, the seed and `npm run dev`.
 * @param {{ data: string, databaseUrl: string }} known
 * @returns {Record<string, string | undefined>}
 */
export function serverEnvironment({ data, databaseUrl }) {
  const secret = secretOf(data)
  const nextAuthSecret = crypto.createHmac('sha256', secret).update('holdpoint/next-auth').digest('base64url')
  return {
    NEXTAUTH_SECRET: nextAuthSecret,
    ...process.env,
    DATABASE_ADMIN_URL: undefined, // the server has no business with the owner's rights
    DATABASE_URL: databaseUrl,
    HOLDPOINT_CONNECTOR: path.join(root, 'agent/dist'),
    HOLDPOINT_DATA: data,
    HOLDPOINT_PUBLIC_URL: publicUrl(),
    HOLDPOINT_SECRET: secret,
    HOSTNAME: wantedHost(),
    NEXTAUTH_URL: publicUrl(),
    NEXT_TELEMETRY_DISABLED: '1',
    PORT: String(wantedPort()),
  }
}

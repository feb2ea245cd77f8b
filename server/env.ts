import 'server-only'
import { createHash, hkdfSync } from 'node:crypto'
import { AppError } from '#core/error.ts'

/** The environment of the control plane, read once. Every secret of the process passes through here. */
export type Env = {
  databaseUrl: string
  /** The address that browsers use, without a slash at its end; every link is built from it, never from a Host header. */
  publicUrl: string
  /** 32 bytes outside the database: seals private keys, peppers codes. Never used as it is, see {@link subkey}. */
  secret: Buffer
  smtpUrl: string | undefined
  mailFrom: string
  dataDir: string
  /** How many connections a process may hold. */
  poolSize: number
}

let read: Env | undefined

/** The environment, read and checked at the first call. @throws AppError naming the variable and the remedy */
export function env(): Env {
  read ??= readEnv(process.env)
  return read
}

/** Reads and checks; throws naming the variable and the remedy, so that a bad start says what to do. */
function readEnv(vars: NodeJS.ProcessEnv): Env {
  const need = (name: string): string => {
    const value = vars[name]
    if (!value)
      throw new AppError('BAD_INPUT', `${name} is not set.`, {
        remedy: 'Start with `npm start` or `npm run dev`, which set it.',
      })
    return value
  }
  const publicUrl = readPublicUrl(need('HOLDPOINT_PUBLIC_URL'))
  const secret = Buffer.from(need('HOLDPOINT_SECRET'), 'base64url')
  if (secret.length < 32)
    throw new AppError('BAD_INPUT', 'HOLDPOINT_SECRET has fewer than 32 bytes.', {
      remedy: 'Set 32 random bytes in base64url.',
    })
  return {
    databaseUrl: need('DATABASE_URL'),
    publicUrl: publicUrl.href.replace(/\/$/, ''),
    secret,
    smtpUrl: vars.SMTP_URL || undefined,
    mailFrom: vars.HOLDPOINT_MAIL_FROM || `Holdpoint <holdpoint@${publicUrl.hostname}>`,
    dataDir: vars.HOLDPOINT_DATA || '.data',
    poolSize: readPoolSize(vars.HOLDPOINT_POOL || '10'),
  }
}

/** Every link, redirect and Origin check is made from it: scheme and host, nothing else. */
function readPublicUrl(text: string): URL {
  const remedy = 'Set it to what browsers open, such as https://holdpoint.example.com.'
  if (!URL.canParse(text)) throw new AppError('BAD_INPUT', 'HOLDPOINT_PUBLIC_URL is not an address.', { remedy })
  const url = new URL(text)
  if (!/^https?:$/.test(url.protocol))
    throw new AppError('BAD_INPUT', 'HOLDPOINT_PUBLIC_URL is neither an https nor an http address.', { remedy })
  if (url.pathname !== '/' || url.search || url.hash || url.username || url.password)
    throw new AppError('BAD_INPUT', 'HOLDPOINT_PUBLIC_URL holds more than scheme, host and port.', { remedy })
  return url
}

function readPoolSize(text: string): number {
  const size = Number(text)
  if (Number.isInteger(size) && size >= 1 && size <= 1000) return size
  throw new AppError('BAD_INPUT', 'HOLDPOINT_POOL is not a number of connections.', {
    remedy: 'Set a whole number from 1 to 1000, or nothing for 10.',
  })
}

/** A key for one purpose, derived from the secret (HKDF-SHA-256, RFC 5869), so that no purpose's key is another's. */
export function subkey(purpose: string, secret: Buffer = env().secret): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, createHash('sha256').update('holdpoint').digest(), purpose, 32))
}

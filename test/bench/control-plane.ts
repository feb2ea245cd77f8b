import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { endChildren } from '#server/boot/child.mjs'
import { prepareDatabase } from '#server/boot/database.mjs'
import { startPostgres } from '#server/boot/embedded-postgres.mjs'
import { dataFolder, removeTemporary, root, serverEnvironment } from '#server/boot/environment.mjs'
import { fingerprint } from '#server/boot/fingerprint.mjs'
import { answering, startServer } from '#server/boot/serving.mjs'
import type { Later } from './undo.ts'

const SERVER = join(root, '.next/standalone/server.js')
const SEED = join(root, '.next/boot/seed.mjs')
const BUILT_FROM = join(root, '.next/holdpoint-sources')

/** The organisation that the seed makes. */
export const SLUG = 'acme'
const LEAD = 'chris@acme.example'
const MACHINES_MEMBER = 'dana@acme.example'

export type ControlPlane = {
  origin: string
  owner: Person
  /** Signed in by e-mail, with the code of the demo mailbox. */
  lead: Person
  /** A one-time address for a machine of another member, for `holdpoint join`. */
  joinUrl(): Promise<string>
}

/**
 * Starts the built product as `npm start` does, on a database and a port of its own, and signs an owner and a lead in.
 * Everything is gone when the row is over.
 * @throws when nothing is built
 */
export async function startControlPlane(later: Later): Promise<ControlPlane> {
  if (!existsSync(SERVER) || !existsSync(SEED)) throw new Error('nothing is built here: run `npm run build` first')
  if (readFileSync(BUILT_FROM, { encoding: 'utf8', flag: 'a+' }) !== fingerprint())
    console.error('  The build is older than the sources: what is measured is the build.')
  const port = await freePort()
  const origin = `http://127.0.0.1:${port}`
  // read by the launcher's own parts; nothing of the caller's installation may get in
  for (const name of ['DATABASE_URL', 'HOLDPOINT_SECRET', 'SMTP_URL', 'HOST']) delete process.env[name]
  Object.assign(process.env, { HOLDPOINT_DATA: 'temporary', HOLDPOINT_PUBLIC_URL: origin, PORT: String(port) })
  const data = dataFolder()
  later(removeTemporary)
  const postgres = await startPostgres(join(data, 'db'))
  later(() => postgres.leave())
  await prepareDatabase(postgres.ownerUrl, postgres.appUrl)
  const env = { ...serverEnvironment({ data, databaseUrl: postgres.appUrl }), NODE_ENV: 'production' }
  later(() => endChildren())
  const server = startServer([SERVER], env, { banner: false })
  const [signInUrl] = await Promise.all([seed(env), answering(server)])

  const owner = new Person(origin)
  await owner.post('/auth/console', { t: new URL(signInUrl).searchParams.get('t') ?? '' })
  const lead = new Person(origin)
  await signInByMail(lead, LEAD)
  const joinUrl = async () => {
    const { members } = await owner.ask<{ members: { id: string; email: string }[] }>('member.list', {})
    const memberId = members.find(member => member.email === MACHINES_MEMBER)!.id
    return (await owner.change<{ url: string }>('machine.joinLine', { memberId })).url
  }
  return { origin, owner, lead, joinUrl }
}

/** Somebody's browser, as far as the server can see: cookies, forms, and tRPC's calls. */
export class Person {
  private readonly jar = new Map<string, string>()

  constructor(private readonly origin: string) {}

  /** Submits a form and gives where it leads. */
  async post(path: string, fields: Record<string, string>): Promise<URL> {
    const response = await this.fetch(path, {
      method: 'POST',
      body: new URLSearchParams(fields),
      redirect: 'manual',
    })
    const to = new URL(response.headers.get('location') ?? '/', this.origin)
    if (response.status !== 303 || to.searchParams.has('error'))
      throw new Error(`${path} answered ${response.status} ${to.search}`)
    for (const line of response.headers.getSetCookie()) {
      const [pair = ''] = line.split(';')
      const at = pair.indexOf('=')
      if (/max-age=0/i.test(line)) this.jar.delete(pair.slice(0, at))
      else this.jar.set(pair.slice(0, at), pair.slice(at + 1))
    }
    return to
  }

  /** A tRPC query. */
  ask<T>(procedure: string, input: Record<string, unknown>): Promise<T> {
    const json = JSON.stringify({ json: { org: SLUG, ...input } })
    return this.result(procedure, this.fetch(`/api/trpc/${procedure}?input=${encodeURIComponent(json)}`, {}))
  }

  /** A tRPC mutation. */
  change<T>(procedure: string, input: Record<string, unknown>): Promise<T> {
    const body = JSON.stringify({ json: { org: SLUG, ...input } })
    const headers = { 'content-type': 'application/json' }
    return this.result(procedure, this.fetch(`/api/trpc/${procedure}`, { method: 'POST', body, headers }))
  }

  private async result<T>(procedure: string, asked: Promise<Response>): Promise<T> {
    const response = await asked
    const text = await response.text()
    if (!response.ok) throw new Error(`${procedure} answered ${response.status}: ${text.slice(0, 300)}`)
    return (JSON.parse(text) as { result: { data: { json: T } } }).result.data.json
  }

  private fetch(path: string, init: RequestInit): Promise<Response> {
    const headers = new Headers(init.headers)
    headers.set('origin', this.origin)
    headers.set('cookie', [...this.jar].map(([name, value]) => `${name}=${value}`).join('; '))
    return fetch(`${this.origin}${path}`, { ...init, headers })
  }
}

async function signInByMail(person: Person, email: string): Promise<void> {
  const to = await person.post('/auth/email', { email })
  for (let tries = 0; tries < 200; tries++) {
    // the invitation of the seed may be there before, or come after
    for (const { id } of await person.ask<{ id: string }[]>('session.mailbox', { to: email })) {
      const mail = await person.ask<{ subject: string; text: string }>('session.mail', { id })
      const code = /\b\d{6}\b/.exec(`${mail.subject}\n${mail.text}`)?.[0]
      if (code === undefined) continue
      await person.post('/auth/code', { a: to.searchParams.get('a') ?? '', code })
      return
    }
    await sleep(50)
  }
  throw new Error(`no mail came for ${email}`)
}

/** The first organisation; gives the owner's one-time address. */
function seed(env: Record<string, string | undefined>): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--conditions=react-server', SEED], {
      cwd: root,
      env: env as NodeJS.ProcessEnv,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let text = ''
    child.stdout.setEncoding('utf8').on('data', part => {
      text += part
    })
    child.once('error', reject)
    child.once('close', code => {
      const { signInUrl } = code === 0 ? (JSON.parse(text.trim().split('\n').at(-1)!) as { signInUrl?: string }) : {}
      if (signInUrl) resolve(signInUrl)
      else reject(new Error(`the seed ended with ${code}`))
    })
  })
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}

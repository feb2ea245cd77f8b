import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { getConnector, getManifest } from '#server/api/connector-download.ts'
import { makeJoinLine, posixLine } from '#server/features/join-line.ts'
import { useDatabase } from '../../support/db.ts'
import { actorOf, contextOf, makeOrganisation, type TestOrganisation } from '../../support/makers.ts'

const db = useDatabase()
const folder = mkdtempSync(path.join(tmpdir(), 'holdpoint-download-'))
const dist = path.join(folder, 'dist')
/** A program that tells how it was started, and what it was given to read. */
const PROGRAM = `const fs = require('node:fs')
fs.writeFileSync(process.env.TOLD, JSON.stringify([...process.argv.slice(2), fs.readFileSync(0, 'utf8')]))\n`
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
let server: Server
let origin: string
/** What goes over the wire instead, of the same length. */
let served: string
let org: TestOrganisation

function build(code: string, manifest: object = { version: '0.1.0', sha256: sha256(code), bytes: code.length }): void {
  rmSync(dist, { recursive: true, force: true })
  mkdirSync(dist)
  writeFileSync(path.join(dist, 'holdpoint.cjs'), code)
  writeFileSync(path.join(dist, 'manifest.json'), JSON.stringify(manifest))
}

beforeAll(async () => {
  process.env.HOLDPOINT_CONNECTOR = dist
  org = await makeOrganisation(db.prisma)
  server = createServer(async (request, response) => {
    const digest = /^\/connector\/([0-9a-f]{64})\/holdpoint\.cjs$/.exec(request.url ?? '')?.[1] ?? ''
    const answer = await getConnector(new Request(`http://x${request.url}`), {
      params: Promise.resolve({ sha256: digest }),
    })
    response
      .writeHead(answer.status, Object.fromEntries(answer.headers))
      .end(answer.ok ? served || Buffer.from(await answer.arrayBuffer()) : '')
  }).listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
beforeEach(() => {
  served = ''
  build(PROGRAM)
})
afterAll(() => {
  delete process.env.HOLDPOINT_CONNECTOR
  server.close()
  rmSync(folder, { recursive: true, force: true })
})

const makeLine = (input: { label?: string } = {}) =>
  makeJoinLine({ ...contextOf(db.prisma, actorOf(org, org.ownerId, 'owner')), origin }, input)

/** Runs a line as a person would paste it, from an empty home; what the program was told, or the error output. */
function paste(
  line: string,
  { shell = 'sh', tools }: { shell?: string; tools?: string[] } = {},
): Promise<{ code: number; told: string[] | undefined; error: string; left: string[] }> {
  const home = mkdtempSync(path.join(folder, 'home-'))
  const tmp = path.join(home, 'tmp')
  mkdirSync(tmp)
  const told = path.join(home, 'told.json')
  const bin = path.join(home, 'bin')
  mkdirSync(bin)
  for (const tool of tools ?? []) symlinkSync(tool, path.join(bin, path.basename(tool)))
  const PATH = tools ? bin : (process.env.PATH ?? '')
  return new Promise(resolve => {
    execFile(
      tools ? '/bin/sh' : shell,
      ['-c', line],
      { env: { ...process.env, HOME: home, TMPDIR: tmp, TOLD: told, PATH } },
      (error, _out, err) => {
        let said: string[] | undefined
        try {
          said = JSON.parse(readFileSync(told, 'utf8')) as string[]
        } catch {
          said = undefined
        }
        resolve({ code: error ? Number(error.code) : 0, told: said, error: err, left: readdirSync(tmp) })
      },
    )
  })
}

describe('the line of the Machines page', () => {
  it.each(['sh', 'bash'])(
    'downloads, checks and installs in %s, and leaves nothing in the temporary folder',
    async shell => {
      const { line, url, sha256: digest, problem } = await makeLine()
      expect(problem).toBeUndefined()
      expect(digest).toBe(sha256(PROGRAM))
      expect(line).not.toContain('\n')
      expect(await paste(line!, { shell })).toMatchObject({
        code: 0,
        told: ['install', '--join', '-', `${url}\n`],
        left: [],
      })
    },
  )

  it('hands on the name that the machine is to have', async () => {
    const { line, url } = await makeLine({ label: 'build-1' })
    expect((await paste(line!)).told).toEqual(['install', '--join', '-', '--label', 'build-1', `${url}\n`])
  })

  it.skipIf(!existsSync('/proc/self/cmdline'))('shows its token in no list of processes', async () => {
    build(`const fs = require('node:fs')
      const seen = [process.pid, process.ppid].map(pid => fs.readFileSync('/proc/' + pid + '/cmdline', 'utf8'))
      fs.writeFileSync(process.env.TOLD, JSON.stringify([...seen, fs.readFileSync(0, 'utf8')]))\n`)
    const { line, url } = await makeLine()
    const [program, shell, read] = (await paste(line!, { shell: 'bash' })).told!
    expect(read).toBe(`${url}\n`)
    expect(program).toContain('install')
    expect(shell).toContain('curl')
    expect(program + shell!).not.toContain('hpj_')
  })

  it('runs nothing when the bytes are others than promised, and says so', async () => {
    const { line } = await makeLine()
    served = PROGRAM.replace('slice(2)', 'slice(1)')
    const { code, told, error, left } = await paste(line!)
    expect({ code, told, left }).toEqual({ code: 1, told: undefined, left: [] })
    expect(error).toContain('does not have the promised SHA-256. Nothing was installed.')
  })

  it('runs nothing when the address is gone', async () => {
    const { line } = await makeLine()
    build(`${PROGRAM}// the next build`)
    const { code, told } = await paste(line!)
    expect(code).not.toBe(0)
    expect(told).toBeUndefined()
  })

  it('works where shasum takes the place of sha256sum, as on a Mac', async () => {
    const shasum = path.join(folder, 'shasum')
    writeFileSync(shasum, '#!/bin/sh\n[ "$1 $2 $3" = "-a 256 -c" ] || exit 9\nexec /usr/bin/sha256sum -c "$4"\n')
    chmodSync(shasum, 0o755)
    const tools = ['/usr/bin/mktemp', '/bin/rm', '/usr/bin/curl', '/bin/cat', '/bin/sh', process.execPath, shasum]
    const { line, url } = await makeLine()
    expect(await paste(line!, { tools })).toMatchObject({ code: 0, told: ['install', '--join', '-', `${url}\n`] })
    served = PROGRAM.replace('slice(2)', 'slice(1)')
    expect(await paste(line!, { tools })).toMatchObject({ code: 1, told: undefined })
  })

  it('stands in the demanded form: the digest in the line, the address immutable', () => {
    const line = posixLine(
      `${origin}/connector/${'a'.repeat(64)}/holdpoint.cjs`,
      'a'.repeat(64),
      `${origin}/o/acme#e=hpj_x&r=y`,
    )
    expect(line.match(/a{64}/g)).toHaveLength(2)
    const [, url, script] = /^HOLDPOINT_LINE='([^']*)' sh -c '([^']*)'$/.exec(line)!
    expect(url).toBe(`${origin}/o/acme#e=hpj_x&r=y`)
    expect(script).not.toContain('hpj_')
  })

  it('is missing, with the reason, while no connector is built or its bytes do not fit the manifest', async () => {
    build(PROGRAM, { version: '0.1.0', sha256: 'a'.repeat(64), bytes: 1 })
    expect(await makeLine()).toMatchObject({
      line: undefined,
      powershell: undefined,
      problem: expect.stringContaining('not built'),
    })
    rmSync(dist, { recursive: true })
    const { line, url } = await makeLine()
    expect(line).toBeUndefined()
    expect(url).toContain('#e=hpj_')
    expect((await getManifest()).status).toBe(404)
  })
})

describe('the download', () => {
  const get = (digest: string, headers = {}) =>
    getConnector(new Request('http://x/', { headers }), { params: Promise.resolve({ sha256: digest }) })

  it('may be kept for ever, because its address names its content', async () => {
    const response = await get(sha256(PROGRAM))
    expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(sha256(await response.text())).toBe(sha256(PROGRAM))
    expect((await get(sha256(PROGRAM), { 'if-none-match': response.headers.get('etag')! })).status).toBe(304)
  })

  it('another digest is not found, and that is not kept', async () => {
    const response = await get('b'.repeat(64))
    expect(response.status).toBe(404)
    expect(response.headers.get('cache-control')).toBe('no-store')
  })

  it('the manifest names the newest build and is asked for anew', async () => {
    build(`${PROGRAM}// 2`)
    const response = await getManifest()
    expect(await response.json()).toEqual({
      version: '0.1.0',
      sha256: sha256(`${PROGRAM}// 2`),
      bytes: PROGRAM.length + 4,
      path: `/connector/${sha256(`${PROGRAM}// 2`)}/holdpoint.cjs`,
    })
    expect(response.headers.get('cache-control')).toBe('no-cache')
  })
})

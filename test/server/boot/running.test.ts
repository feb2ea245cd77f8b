import { execFile } from 'node:child_process'
import fs from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { root } from '#server/boot/environment.mjs'
import { ownMark } from '#server/boot/process-mark.mjs'

/** A second `npm start` while the port is taken, by whom? Nothing is installed, built or started to find out. */
let data: string
let port: number
let server: http.Server
const answer = (body: string) => {
  server.removeAllListeners('request').on('request', (_, response) => response.end(body))
}

beforeEach(async () => {
  data = fs.mkdtempSync(path.join(os.tmpdir(), 'running-'))
  server = http.createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
})
afterEach(() => {
  server.closeAllConnections()
  server.close()
  fs.rmSync(data, { recursive: true, force: true })
})

const start = () =>
  new Promise<{ code: number; said: string }>(resolve => {
    const env = { PATH: process.env.PATH, PORT: String(port), HOLDPOINT_DATA: data, NODE_ENV: 'test' } as const
    execFile(process.execPath, ['server/boot/start.mjs'], { cwd: root, env }, (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : error ? 1 : 0, said: stdout + stderr }),
    )
  })
const name = (mark: string) =>
  fs.writeFileSync(path.join(data, `running-${port}`), JSON.stringify({ mark, url: 'https://holdpoint.example.com' }))

it('by the Holdpoint of this data folder: says where it is, and that is no failure', async () => {
  name(ownMark())
  const { code, said } = await start()
  expect(said.trim()).toBe(
    `Holdpoint already runs at https://holdpoint.example.com, with the data folder ${data} (process ${process.pid}).\n` +
      '  Nothing was started. Ctrl-C where it was started stops it.',
  )
  expect(code).toBe(0)
})

it('by a Holdpoint with another data folder, though a dead start of this one left its name: refused', async () => {
  name('999999999-1')
  answer('{"ok":true}')
  const { code, said } = await start()
  expect(said).toContain(`Port ${port} is in use by a Holdpoint with another data folder.`)
  expect(said).toContain(`PORT=${port + 1} npm start`)
  expect(code).toBe(1)
})

it('by something else: refused', async () => {
  answer('{"ok":true,"of":"something else"}')
  const { code, said } = await start()
  expect(said).toContain(`Port ${port} is in use by another program.`)
  expect(code).toBe(1)
})

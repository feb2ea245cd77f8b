import { execFile } from 'node:child_process'
import { chmodSync, copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { CommandMachine } from './machine.ts'

let machine: CommandMachine
let bin: string
const servers: Server[] = []

const put = (name: string, text = '#!/bin/sh\necho 99.0.0\n') => {
  writeFileSync(join(bin, name), text)
  chmodSync(join(bin, name), 0o755)
}
const file = (name: string) => join(machine.home.root, name)
const listen = (port: number) =>
  new Promise<void>(resolve => {
    const server = createServer((_, response) => response.end('anything'))
    servers.push(server)
    server.listen(port, '127.0.0.1', resolve)
  })

beforeAll(async () => {
  machine = new CommandMachine()
  await machine.install()
  bin = machine.makeFolder('programs')
  machine.env.PATH = `${machine.home.bin}:${bin}:/usr/bin:/bin`
  put('claude')
  // the port form: this machine may have other users
  expect((await machine.run(['hooks', 'install', '--form', 'http'])).code).toBe(0)
})
afterAll(async () => {
  for (const server of servers) server.close()
  await machine.remove()
})

type Finding = { code: string; severity: string; what: string; why: string; fix?: string; todo?: string }
const examine = async (
  env: Record<string, string> = {},
): Promise<{ ok: boolean; findings: Finding[]; code: number | null }> => {
  const ran = await machine.run(['doctor', '--json'], { env })
  expect(ran.stderr).toBe('')
  return { ...ran.json, code: ran.code }
}
const off = (findings: Finding[]) => findings.filter(({ severity }) => severity === 'off').map(({ code }) => code)
/** A printed command, as it would be pasted. */
const paste = (command: string) =>
  new Promise<number>(resolve =>
    execFile('/bin/sh', ['-c', command], { env: machine.env as unknown as NodeJS.ProcessEnv }, error =>
      resolve(error ? Number(error.code ?? 1) : 0),
    ),
  )

it('finds nothing off where nothing is, and says what is merely so', async () => {
  const { ok, findings, code } = await examine()
  expect(off(findings)).toEqual([])
  expect({ ok, code }).toEqual({ ok: true, code: 0 })
  expect(findings.map(one => one.code)).toEqual(['not_joined'])
  expect((await machine.run(['doctor'])).stdout).toContain('Nothing is off.')
})

const CONFIG = 'boundaries: [{ name: floor, action: continue, when: { plan_left_pct: "< 5" }, require: deny }]\n'

type Row = {
  code: string
  make: () => unknown
  /** Where no command can mend it: what the person does. */
  mend?: () => unknown
  env?: Record<string, string>
}
const ROWS: Row[] = [
  { code: 'daemon_down', make: () => machine.endDaemon() },
  { code: 'home_open', make: () => chmodSync(file('tokens.json'), 0o644) },
  { code: 'home_open', make: () => chmodSync(machine.home.root, 0o755) },
  {
    code: 'program_missing',
    make: () => {
      copyFileSync(file('bin/hook.cjs'), join(bin, 'kept'))
      rmSync(file('bin/hook.cjs'))
    },
    mend: () => copyFileSync(join(bin, 'kept'), file('bin/hook.cjs')),
  },
  {
    code: 'hooks_edited:claude-code',
    make: () => {
      const path = join(machine.folder, '.claude', 'settings.json')
      writeFileSync(path, readFileSync(path, 'utf8').replace(/Bearer [^"]+/g, 'Bearer of-before'))
    },
  },
  {
    code: 'hooks_missing:claude-code',
    make: () => writeFileSync(join(machine.folder, '.claude', 'settings.json'), '{}\n'),
  },
  { code: 'hooks_missing:codex', make: () => put('codex'), mend: () => rmSync(join(bin, 'codex')) },
  {
    code: 'settings_unusable:claude-code',
    make: () => {
      const path = join(machine.folder, '.claude', 'settings.json')
      copyFileSync(path, join(bin, 'settings'))
      writeFileSync(path, '{ "hooks": ')
    },
    mend: () => copyFileSync(join(bin, 'settings'), join(machine.folder, '.claude', 'settings.json')),
  },
  {
    code: 'config_broken',
    make: () => writeFileSync(machine.home.config, 'boundaries: [{}]\n'),
    mend: () => rmSync(machine.home.config),
  },
  { code: 'statusline_missing', make: () => writeFileSync(machine.home.config, CONFIG) },
  {
    code: 'join_incomplete',
    make: () => writeFileSync(machine.home.team, '{}'),
    mend: () => rmSync(machine.home.team),
  },
  {
    code: 'proxy_down',
    make: () => {},
    env: { ANTHROPIC_BASE_URL: 'http://127.0.0.1:7717/anthropic' },
    mend: () => {},
  },
  {
    code: 'daemon_impostor',
    make: async () => {
      const { port } = JSON.parse(readFileSync(machine.home.tokens, 'utf8'))
      const door = readFileSync(machine.home.daemon)
      await machine.endDaemon('SIGKILL')
      writeFileSync(machine.home.daemon, door)
      await listen(port)
    },
    mend: async () => {
      await new Promise(resolve => servers.pop()!.close(resolve))
      await machine.run(['daemon', 'start'])
    },
  },
]

it.each(ROWS)('$code is found, explained, mended by what is printed, and gone', async ({ code, make, mend, env }) => {
  await make()
  const found = await examine(env)
  const finding = found.findings.find(one => one.code === code)
  expect(finding, JSON.stringify(found.findings)).toBeDefined()
  expect(found).toMatchObject({ ok: false, code: 1 })
  expect(finding!.what).toMatch(/\.$|\)$|”$|: .+/)
  expect(finding!.why.length).toBeGreaterThan(20)
  expect(finding!.fix ?? finding!.todo).toBeDefined()
  if (mend) await mend()
  else expect(await paste(finding!.fix!)).toBe(0)
  expect(off((await examine()).findings)).toEqual([])
})

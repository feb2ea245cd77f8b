import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { CommandMachine } from './machine.ts'

let machine: CommandMachine
let model: Server
let models: string[]
const started: ChildProcess[] = []
beforeEach(async () => {
  machine = new CommandMachine()
  await machine.install()
  models = []
  model = createServer((request, response) => {
    let body = ''
    request.on('data', part => {
      body += part
    })
    request.on('end', () => {
      models.push((JSON.parse(body) as { model: string }).model)
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ id: 'msg_1', model: 'm', usage: { input_tokens: 1, output_tokens: 2 } }))
    })
  })
  await new Promise<void>(resolve => model.listen(0, '127.0.0.1', resolve))
})
afterEach(async () => {
  for (const child of started.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue
    child.kill('SIGTERM')
    await once(child, 'exit')
  }
  model.closeAllConnections()
  model.close()
  await machine.remove()
})

const config = (routing: string, boundaries = '') => {
  const url = `http://127.0.0.1:${(model.address() as AddressInfo).port}`
  writeFileSync(machine.home.config, `${boundaries}routing:\n  upstreams: { anthropic: "${url}" }\n${routing}`)
}

/** Runs it in the background until it has said where it listens. */
async function start(...args: string[]): Promise<{ child: ChildProcess; said: () => string; base: string }> {
  const program = join(machine.home.bin, 'holdpoint.cjs')
  const child = spawn(process.execPath, [program, 'proxy', '--port', '0', ...args], {
    env: machine.env as unknown as NodeJS.ProcessEnv,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  started.push(child)
  let said = ''
  child.stdout!.on('data', part => {
    said += part
  })
  let base: string | undefined
  while (base === undefined) {
    await once(child.stdout!, 'data')
    base = /http:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0]
  }
  return { child, said: () => said, base }
}

async function untilSome<T>(look: () => Promise<T | undefined | false>): Promise<T> {
  for (const end = Date.now() + 30_000; Date.now() < end; ) {
    const found = await look()
    if (found) return found
  }
  throw new Error('it did not happen in time')
}

const send = async (base: string, name: string): Promise<number> => {
  const body = JSON.stringify({ model: name })
  const headers = { 'user-agent': 'claude-cli/2.1.332', 'x-claude-code-session-id': 's1' }
  return (await fetch(`${base}/anthropic/v1/messages`, { method: 'POST', body, headers })).status
}

it('says what to set in each client, tells what passed, and ends when it is interrupted', async () => {
  config('')
  expect(await machine.run(['proxy', 'status'])).toMatchObject({ code: 4 })
  const { child, said, base } = await start()
  expect(await send(base, 'one')).toBe(200)
  const status = await machine.run(['proxy', 'status', '--json'])
  expect(status.json).toMatchObject({ mode: 'observe', requests: 1, metered: 1, untold: 0, routes: [] })
  expect((await machine.run(['proxy', 'status'])).stdout).toMatch(/calls metered\s+1/)
  const port = new URL(base).port
  const again = await machine.run(['proxy', '--port', port])
  expect(again).toMatchObject({ code: 1 })
  expect(again.stderr).toContain('holdpoint proxy status')
  for (const line of [`export ANTHROPIC_BASE_URL=${base}/anthropic`, `base_url = "${base}/openai/v1"`])
    expect(said()).toContain(line)
  child.kill('SIGINT')
  expect(await once(child, 'exit')).toEqual([0, null])
  expect(await machine.run(['proxy', 'status'])).toMatchObject({ code: 4 })
})

it('refuses what is no port, and what somebody else has', async () => {
  for (const port of ['x', '70000', '-1'])
    expect(await machine.run(['proxy', `--port=${port}`]), port).toMatchObject({ code: 2 })
  const { port } = model.address() as AddressInfo
  const taken = await machine.run(['proxy', '--port', String(port), '--json'])
  expect(taken).toMatchObject({ code: 1, json: { error: { code: 'port_taken' } } })
})

it('a route that a rule holds is told of in its own words, and a person at a terminal lets it through for a day', async () => {
  const rule =
    '{ name: no-routes, action: model_route, when: { model_tier: ">= haiku" }, require: ask, stage: enforce }'
  const route = '{ name: cheaper, from: claude-opus-4-6, to: claude-haiku-4-5 }'
  config(`  mode: active\n  rules: [${route}]\n`, `boundaries:\n  - ${rule}\n`)
  await machine.run(['daemon', 'start'])
  const { base } = await start('--json')
  expect(await send(base, 'claude-opus-4-6')).toBe(200)
  expect(models).toEqual(['claude-opus-4-6'])
  // on a slow machine the daemon's word may come after the request has gone on; the question is there all the same
  const held = await untilSome(async () => (await machine.run(['waiting', '--json'])).json[0])
  expect(held).toMatchObject({ action: 'model_route', subject: { from: 'claude-opus-4-6', to: 'claude-haiku-4-5' } })
  const move = 'claude-opus-4-6 → claude-haiku-4-5'
  expect((await machine.run(['waiting'])).stdout).toContain(`model_route, ${move}`)
  const approved = await machine.type(['approve', held.handle, '--session'], 'approve\n')
  expect(approved.code, approved.screen).toBe(0)
  expect(approved.screen).toContain('Let it go on for a day?')
  await untilSome(async () => {
    expect(await send(base, 'claude-opus-4-6')).toBe(200)
    return models.at(-1) === 'claude-haiku-4-5'
  })
  const { stdout } = await machine.run(['explain', held.handle])
  expect(stdout).toContain(move)
  expect(stdout).toContain('let it go on for a day')
  expect(stdout).toContain('the request went on with its own model')
  const status = await machine.run(['proxy', 'status'])
  expect(status.stdout).toMatch(/held, gone on with its own model[\s\S]*moved, 1 time/)
})

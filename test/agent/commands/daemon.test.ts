import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CommandMachine } from './machine.ts'

let machine: CommandMachine
let squatter: Server | undefined
beforeEach(async () => {
  machine = new CommandMachine()
  await machine.install()
})
afterEach(async () => {
  squatter?.close()
  squatter = undefined
  await machine.remove()
})

describe('daemon start', () => {
  it('says why the daemon did not start, and does not wait for one that has given up', async () => {
    await machine.run(['daemon', 'start'])
    const { port } = JSON.parse(readFileSync(machine.home.tokens, 'utf8')) as { port: number }
    await machine.endDaemon()
    squatter = createServer(socket => socket.destroy())
    await new Promise<void>(resolve => squatter!.listen(port, '127.0.0.1', resolve))
    const began = performance.now()
    const ran = await machine.run(['daemon', 'start'])
    expect(ran.code).toBe(1)
    expect(ran.stderr).toContain(
      `The daemon did not start: Port ${port}, where the hooks of this machine go, belongs to`,
    )
    expect(ran.stderr).toContain(machine.home.log)
    expect(performance.now() - began).toBeLessThan(7000)
  })

  it('tells no cause of an earlier start', async () => {
    writeFileSync(machine.home.log, 'holdpoint: The cause of yesterday.\n')
    rmSync(machine.home.lock, { recursive: true, force: true })
    mkdirSync(machine.home.lock)
    const { stderr, code } = await machine.run(['daemon', 'start'])
    expect(code).toBe(1)
    expect(stderr).toMatch(/^holdpoint: The daemon did not start: ./)
    expect(stderr).not.toContain('yesterday')
    rmSync(machine.home.lock, { recursive: true, force: true })
  })
})

it('daemon stop says what is lost while it is down before it asks for the word', async () => {
  await machine.run(['daemon', 'start'])
  const { screen, code } = await machine.type(['daemon', 'stop'], 'no\n')
  expect(code).toBe(1)
  for (const words of [
    'calls run unjudged',
    'approvals and new rules do not arrive',
    'nothing is reported',
    'Type stop',
  ])
    expect(screen).toContain(words)
  expect((await machine.run(['daemon', 'status'])).code).toBe(0)
})

import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { beforeEach, describe, expect, test } from 'vitest'
import { Organisation, RULE } from './organisation.ts'
import { Machine, onCleanup, told, until } from './world.ts'

let machine: Machine
let org: Organisation
beforeEach(async () => {
  machine = new Machine()
  org = new Organisation()
  await org.listen()
  onCleanup(() => org.close())
  machine.join(org)
})

/** The daemon as a process of its own. `deadly` makes it kill itself once, right after a spend is on disk. */
async function startProcess({
  deadly = false,
  root = machine.home.root,
} = {}): Promise<ChildProcess & { output(): string }> {
  const bundle = join(machine.folder, `daemon-${deadly}.cjs`)
  await build({
    stdin: {
      contents: `
        import { runDaemon } from '#agent/daemon/main.ts'
        import { DISK, openHome } from '#agent/home.ts'
        let spending = false
        const disk = ${deadly} ? {
          ...DISK,
          write: (fd, bytes) => { if (Buffer.from(bytes).includes('"kind":"spend"')) spending = true; return DISK.write(fd, bytes) },
          fsync: fd => { DISK.fsync(fd); if (spending) process.kill(process.pid, 'SIGKILL') },
        } : DISK
        runDaemon({ home: openHome(${JSON.stringify(root)}, disk), version: '1.0.0', clientHome: { homeDir: ${JSON.stringify(join(machine.folder, 'dev'))}, env: {} } })
          .then(daemon => console.log('open ' + daemon.port), error => { console.log(error.code + ' ' + error.message); process.exit(3) })
      `,
      resolveDir: process.cwd(),
      loader: 'ts',
    },
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    outfile: bundle,
    logLevel: 'error',
  })
  const child = spawn(process.execPath, [bundle], { stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  child.stdout.on('data', data => {
    output += String(data)
  })
  onCleanup(() => void child.kill('SIGKILL'))
  await until(() => output !== '' || child.exitCode !== null, 15_000)
  const port = /open (\d+)/.exec(output)?.[1]
  if (port) machine.daemon = { port: Number(port) } as typeof machine.daemon
  return Object.assign(child, { output: () => output })
}
const gone = (child: ChildProcess) => until(() => child.exitCode !== null || child.signalCode !== null)
const call = async (toolUse: string) => told(await machine.hook({ tool_use_id: toolUse })).decision

describe('kill -9', () => {
  test('between the spend on disk and the reply: of two calls at once exactly one is let through, its id again, the other files anew', async () => {
    org.publish(RULE('approver:lead'))
    machine.spend(20.1)
    const first = await startProcess({ deadly: true })
    await until(async () => (await call('toolu_0')) === 'deny' && org.requests.length === 1)
    org.answer(org.requests[0]!)
    await until(() => machine.entries('answer').length === 1)
    const replies = await Promise.allSettled([call('toolu_a'), call('toolu_b')])
    await gone(first)
    expect(first.signalCode).toBe('SIGKILL')
    expect(replies.map(reply => reply.status)).toEqual(['rejected', 'rejected'])
    const [spend] = machine.entries('spend')
    const other = spend!.toolUse === 'toolu_a' ? 'toolu_b' : 'toolu_a'

    const second = await startProcess()
    const decisions = { [spend!.toolUse]: await call(spend!.toolUse), [other]: await call(other) }
    expect(decisions).toEqual({ [spend!.toolUse]: 'pass', [other]: 'deny' })
    expect(await call(spend!.toolUse)).toBe('pass')
    expect(machine.entries('spend')).toHaveLength(1)
    await until(() => org.requests.length === 2)
    expect(org.requests[1]!.attempt).toBe(2)
    second.kill('SIGKILL')
    await gone(second)
  }, 40_000)

  test('at any moment: the lock of a dead daemon is taken over, port and tokens stay, nothing is lost', async () => {
    machine.config(RULE('deny'))
    machine.spend(20.1)
    const first = await startProcess()
    expect(await call('toolu_1')).toBe('deny')
    const before = { tokens: readFileSync(machine.home.tokens, 'utf8'), decisions: machine.entries('decision') }
    first.kill('SIGKILL')
    await gone(first)
    const second = await startProcess()
    expect(readFileSync(machine.home.tokens, 'utf8')).toBe(before.tokens)
    expect(await call('toolu_2')).toBe('deny')
    expect(machine.entries('decision').slice(0, 1)).toEqual(before.decisions)
    expect(machine.entries('started').at(-1)!.downFrom).toBeDefined()
    second.kill('SIGKILL')
    await gone(second)
  }, 40_000)
})

describe('one daemon per home', () => {
  test('a second one ends with a clear word; the first goes on', async () => {
    const first = await startProcess()
    const port = machine.daemon.port
    const second = await startProcess()
    await gone(second)
    expect(second.exitCode).toBe(3)
    expect(second.output()).toMatch(/^already_running .*already running/)
    machine.daemon = { port } as typeof machine.daemon
    expect(await call('toolu_1')).toBe('pass')
    first.kill('SIGKILL')
    await gone(first)
  }, 40_000)

  test('a port that a stranger holds is not swapped for another: the daemon says so and chains the alarm', async () => {
    await machine.start()
    const { port } = machine.daemon
    await machine.daemon.stop()
    const stranger = new Organisation()
    await stranger.listen(port)
    onCleanup(() => stranger.close())
    await expect(machine.start()).rejects.toMatchObject({ code: 'port_taken' })
    expect(machine.entries('alarm').map(alarm => alarm.what)).toEqual(['daemon_impostor'])
    await stranger.close()
    await machine.start()
    expect(machine.daemon.port).toBe(port)
  })

  test('a lock that names a number of another process is stale', async () => {
    writeFileSync(machine.home.lock, JSON.stringify({ pid: process.ppid, startedAt: '1' }))
    await machine.start()
    await expect(machine.start()).rejects.toMatchObject({ code: 'already_running' })
  })
})

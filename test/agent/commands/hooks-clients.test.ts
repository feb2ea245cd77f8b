/** The hooks commands on a machine with several agent programs. */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { CommandMachine } from './machine.ts'

let machine: CommandMachine
beforeEach(async () => {
  machine = new CommandMachine()
  await machine.install()
  // nothing but what a test puts there: the machine that runs it may have agent programs of its own
  machine.env.PATH = `${programs()}:/usr/bin:/bin`
  mkdirSync(programs())
})
afterEach(() => machine.remove())

const programs = () => join(machine.folder, 'programs')
function program(name: string, script = ''): void {
  const file = join(programs(), name)
  writeFileSync(
    file,
    `#!${process.execPath}\nif (process.argv[2] === '--version') console.log('9.9.9')\nelse {\n${script}\n}\n`,
  )
  chmodSync(file, 0o755)
}
const codexFile = () => join(machine.folder, '.codex/hooks.json')
const claudeFile = () => join(machine.folder, '.claude/settings.json')
const levels = (json: { client: string; level: string }[]) => json.map(({ client, level }) => `${client} ${level}`)

/** Codex's own program as far as it is asked to trust: it lists what stands in the file and keeps what it is told. */
const TRUSTING = `
const fs = require('node:fs'), file = process.env.HOME + '/.codex/hooks.json', config = process.env.HOME + '/.codex/config.toml'
const crypto = require('node:crypto')
const label = event => event.replace(/(?<=[a-z])[A-Z]/g, l => '_' + l).toLowerCase()
const list = () => Object.entries(JSON.parse(fs.readFileSync(file, 'utf8')).hooks).flatMap(([event, groups]) => groups.flatMap(({ matcher, hooks }, g) => hooks.map(({ command, timeout }, i) => {
  const identity = { event_name: label(event), hooks: [{ async: false, command, timeout, type: 'command' }], ...(matcher ? { matcher } : {}) }
  const key = file + ':' + label(event) + ':' + g + ':' + i, currentHash = 'sha256:' + crypto.createHash('sha256').update(JSON.stringify(identity)).digest('hex')
  const isTrusted = fs.existsSync(config) && fs.readFileSync(config, 'utf8').includes(currentHash)
  return { key, command, currentHash, sourcePath: file, trustStatus: isTrusted ? 'trusted' : 'untrusted' }
})))
require('node:readline').createInterface({ input: process.stdin }).on('line', line => {
  const { id, method, params } = JSON.parse(line)
  if (method === 'config/batchWrite') for (const [key, { trusted_hash }] of Object.entries(params.edits[0].value))
    fs.appendFileSync(config, '[hooks.state.' + JSON.stringify(key) + ']\\ntrusted_hash = "' + trusted_hash + '"\\n')
  if (id) console.log(JSON.stringify({ id, result: { data: [{ hooks: list() }] } }))
})`

it('wires every program that is on the path, and says of each what it does and how it stands', async () => {
  program('claude')
  program('codex', TRUSTING)
  const ran = await machine.run(['hooks', 'install', '--trust', '--when-broken', 'block'])
  expect(ran.code, ran.stdout + ran.stderr).toBe(0)
  expect(ran.stdout.match(/Proved:/g)).toHaveLength(2)
  expect(ran.stdout).toContain('Codex was told to trust these hooks.')
  expect(ran.stdout).toContain('Codex itself lets a call run when a hook is missing')
  expect(readFileSync(claudeFile(), 'utf8')).toContain('"onFailure": "block"')
  expect(JSON.parse(readFileSync(codexFile(), 'utf8')).hooks.PreToolUse[0].hooks[0].command).toMatch(
    / codex PreToolUse block$/,
  )
  const status = await machine.run(['hooks', 'status', '--json'])
  expect(levels(status.json)).toEqual(['claude-code user-hook', 'codex user-hook'])
  expect(status.code).toBe(0)
  expect((await machine.run(['hooks', 'install', '--json'])).json).toMatchObject([{ changes: [] }, { changes: [] }])
  expect((await machine.type(['hooks', 'uninstall'], 'uninstall\n')).code).toBe(0)
  expect([claudeFile(), codexFile()].map(existsSync)).toEqual([false, false])
})

it('a file that cannot be edited stops that program alone', async () => {
  program('claude')
  program('codex', TRUSTING)
  mkdirSync(join(machine.folder, '.codex'))
  writeFileSync(codexFile(), '{ oops')
  const ran = await machine.run(['hooks', 'install', '--json'])
  expect(ran).toMatchObject({
    code: 1,
    json: [{ level: 'user-hook' }, { client: 'codex', error: { code: 'unparsable' } }],
  })
  expect(readFileSync(codexFile(), 'utf8')).toBe('{ oops')
})

it('asks at the terminal before it tells Codex to trust the hooks, and tells how to where nobody agrees', async () => {
  program('codex', TRUSTING)
  writeFileSync(join(machine.folder, '.profile'), `export PATH='${machine.env.PATH}'\n`)
  const refused = await machine.type(['hooks', 'install', '--client', 'codex'], 'no\n')
  expect(refused.screen).toContain('Type yes to go on')
  expect(refused.screen).toContain('agree when it says that hooks need review')
  expect(levels((await machine.run(['hooks', 'status', '--json'])).json)).toEqual(['codex broken'])
  const agreed = await machine.type(['hooks', 'install', '--client', 'codex'], 'yes\n')
  expect(agreed.code, agreed.screen).toBe(0)
  expect(levels((await machine.run(['hooks', 'status', '--json'])).json)).toEqual(['codex user-hook'])
})

it('where no agent program is found it is about Claude Code, and a form that a program does not take is refused for it', async () => {
  const ran = await machine.run(['hooks', 'status'])
  expect(ran.code).toBe(4)
  expect(ran.stdout).toContain('None of the agent programs is on your PATH (claude, codex')
  const asked = await machine.run(['hooks', 'install', '--client', 'codex', '--form', 'http'])
  expect(asked).toMatchObject({ code: 2, stderr: expect.stringContaining('Codex takes command, not http') })
})

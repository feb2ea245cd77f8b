import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { type Desk, desktopOf, Notices } from '#agent/desk/notices.ts'
import { approveTerminal, type Notice, notifierFor } from '#agent/desk/notifier.ts'
import { Machine, until } from '../daemon/world.ts'

const NOTICE: Notice = {
  title: 'Claude Code was held by cost',
  body: 'holdpoint approve bnd-0123456789ab',
  id: 'bnd-0123456789ab',
  mayApprove: true,
}
const HERE = { DISPLAY: ':0' }
const found = (name: string) => `/bin/${name}`

test('each system has its notifier, and text is an argument of it, never a part of a script', () => {
  const odd = { ...NOTICE, title: '"; do shell script "x', body: '$(x) `x` --x' }
  expect(notifierFor('linux', HERE, found, odd, true)).toEqual({
    exe: '/bin/notify-send',
    args: ['--app-name=Holdpoint', '--action=deny=Deny', '--action=approve=Approve…', '--', odd.title, odd.body],
  })
  const mac = notifierFor('darwin', {}, found, odd, false)!
  expect(mac.args.slice(-2)).toEqual([odd.title, odd.body])
  expect(mac.args.slice(0, -2).join('\n')).not.toContain('shell')
  const windows = notifierFor('win32', {}, found, odd, false)!
  expect(windows.env).toEqual({ HOLDPOINT_TITLE: odd.title, HOLDPOINT_BODY: odd.body })
  expect(windows.args.join('\n')).not.toContain('$(x)')
})

test('nothing is shown where nobody would see it, and no button where none could be heard', () => {
  expect(notifierFor('linux', {}, found, NOTICE, true)).toBeUndefined()
  expect(notifierFor('linux', HERE, () => undefined, NOTICE, true)).toBeUndefined()
  const args = (notice: Notice, withActions: boolean) =>
    notifierFor('linux', HERE, found, notice, withActions)!.args.filter(arg => arg.startsWith('--action'))
  expect(args(NOTICE, false)).toEqual([])
  expect(args({ ...NOTICE, mayApprove: false }, true)).toEqual(['--action=deny=Deny'])
})

test('Approve… opens a terminal with the question, and answers nothing itself', () => {
  const only = (wanted: string) => (name: string) => (name === wanted ? `/bin/${name}` : undefined)
  expect(approveTerminal(only('xterm'), '/node', '/h.cjs', 'bnd-0123456789ab')).toEqual({
    exe: '/bin/xterm',
    args: ['-e', '/node', '/h.cjs', 'approve', 'bnd-0123456789ab', '--confirm'],
  })
  expect(approveTerminal(() => undefined, '/node', '/h.cjs', 'x')).toBeUndefined()
})

let machine: Machine
let shown: Notice[]
let opened: string[]
let press: 'deny' | 'approve' | undefined
const desk: Desk = {
  show: async notice => {
    shown.push(notice)
    return press
  },
  openTerminal: id => void opened.push(id),
  close: () => {},
}
const RULE = 'action: continue, when: { session_cost_usd: ">= 20" }, require: ask, stage: enforce'
const noticesHere = () => new Notices(machine.daemon.runtime, desk, () => {})
beforeEach(() => {
  machine = new Machine()
  shown = []
  opened = []
  press = undefined
  machine.config(`boundaries: [{ name: cost, ${RULE} }]`)
  machine.spend(21)
})

test('what waits is told once, with names and the handle only, and not again by a retry or a restart', async () => {
  await machine.start()
  const notices = noticesHere()
  await machine.hook({ tool_use_id: 'toolu_1', tool_input: { command: 'secret words' } })
  notices.look()
  await machine.hook({ tool_use_id: 'toolu_2' })
  notices.look()
  expect(shown).toHaveLength(1)
  const [{ title, body, id }] = shown as [Notice]
  expect(title).toBe('Claude Code was held by cost')
  expect(body).toBe(`holdpoint approve ${id}`)
  expect(JSON.stringify(shown)).not.toContain('secret')
  await machine.daemon.stop()
  await machine.start()
  const next = noticesHere()
  await machine.hook({ tool_use_id: 'toolu_3' })
  next.look()
  expect(shown).toHaveLength(1)
})

test('of many at once only the number is told', async () => {
  await machine.start()
  const notices = noticesHere()
  for (let i = 0; i < 5; i++) {
    const session = `00000000-0000-4000-8000-00000000001${i}`
    machine.spend(21, { session })
    await machine.hook({ session_id: session, tool_use_id: `toolu_${i}`, transcript_path: machine.transcript(session) })
  }
  notices.look()
  expect(shown).toEqual([{ title: '5 held actions wait', body: 'See: holdpoint waiting' }])
})

test('Deny on the notice is a no, recorded as said there; Approve… opens a terminal and leaves the question open', async () => {
  press = 'approve'
  await machine.start({ desk })
  await machine.hook({ tool_use_id: 'toolu_1' })
  await until(() => opened.length > 0)
  const waiting = async () => (await machine.ask('GET', '/api/waiting', { token: 'api' })).json
  expect(await waiting()).toMatchObject([{ handle: opened[0] }])
  expect(machine.entries('local_answer')).toEqual([])
  press = 'deny'
  machine.config(`boundaries: [{ name: other, ${RULE} }]`)
  await machine.hook({ tool_use_id: 'toolu_2' })
  await until(() => machine.entries('denied_here').length > 0)
  expect(machine.entries('denied_here')).toMatchObject([{ handle: shown[1]!.id, how: 'desktop' }])
})

test('notify: off tells nobody', async () => {
  machine.config(`boundaries: [{ name: cost, ${RULE} }]\nnotify: off\n`)
  await machine.start()
  const notices = noticesHere()
  await machine.hook({ tool_use_id: 'toolu_1' })
  notices.look()
  expect(shown).toEqual([])
  expect(machine.daemon.runtime.rules.inForce().local).toMatchObject({ errors: [], warnings: [] })
})

test.runIf(process.platform === 'linux')(
  'the real notifier’s answer is read, and a daemon that ends does not wait for one',
  async () => {
    const bin = join(machine.folder, 'bin')
    mkdirSync(bin)
    const put = (text: string) => {
      writeFileSync(join(bin, 'notify-send'), `#!/bin/sh\n${text}\n`)
      chmodSync(join(bin, 'notify-send'), 0o755)
    }
    const said = join(machine.folder, 'said')
    put(`case "$1" in --help) echo '  -A, --action=[NAME=]Text';; *) echo "$*" > '${said}'; echo deny;; esac`)
    const real = desktopOf({ ...process.env, ...HERE, PATH: `${bin}:/usr/bin:/bin` }, machine.home)
    expect(await real.show(NOTICE)).toBe('deny')
    expect(readFileSync(said, 'utf8')).toContain('--action=deny=Deny')
    put(`touch '${said}.open'; exec sleep 600`)
    const open = real.show(NOTICE)
    await until(() => existsSync(`${said}.open`))
    real.close()
    expect(await open).toBeUndefined()
  },
)

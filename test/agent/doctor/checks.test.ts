import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { refusalWords } from '#agent/commands/refusal-words.ts'
import type { DaemonStatus } from '#agent/daemon-client.ts'
import { checkClock, checkDaemon, checkProxyPort, checkSecondDaemon } from '#agent/doctor/daemon-checks.ts'
import { runChecks } from '#agent/doctor/examine.ts'
import type { Check, Examined } from '#agent/doctor/finding.ts'
import { checkDisk, checkNode } from '#agent/doctor/home-checks.ts'
import { checkPrices, checkRules } from '#agent/doctor/rule-checks.ts'
import { openHome, writeJson } from '#agent/home.ts'
import { REPORTED_REFUSALS } from '#core/protocol.ts'

let folder: string
let examined: Examined
const NOW = Date.parse('2026-12-01T12:00:00Z')
const healthy = { version: '1.0.0', pid: process.pid, alarms: [], sessions: [], team: null } as unknown as DaemonStatus
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdpoint-doctor-'))
  const home = openHome(join(folder, 'home'))
  mkdirSync(home.root, { mode: 0o700 })
  examined = {
    home,
    clientHome: { homeDir: folder, env: {} },
    version: '1.0.0',
    nodeVersion: 'v20.20.0',
    now: NOW,
    status: healthy,
    refused: undefined,
    rules: [],
    configProblems: [],
  }
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const codes = async (check: Check, over: Partial<Examined> = {}) =>
  (await check({ ...examined, ...over })).map(({ code }) => code)
const withRules = (rules: object) => ({ ...healthy, team: { rules } }) as unknown as DaemonStatus

test.each<[string, Check, () => Partial<Examined>, string[]]>([
  ['an old Node.js', checkNode, () => ({ nodeVersion: 'v18.19.1' }), ['node_old']],
  ['a Node.js that will do', checkNode, () => ({ nodeVersion: 'v24.1.0' }), []],
  ['another version of the daemon', checkDaemon, () => ({ version: '1.0.1' }), ['daemon_other_version']],
  ['this version of the daemon', checkDaemon, () => ({}), []],
  [
    'an answer that is none of the daemon',
    checkDaemon,
    () => ({ status: undefined, refused: { code: 'daemon_odd', message: 'It does not answer as the daemon does.' } }),
    ['daemon_odd'],
  ],
  [
    'a clock that was off this hour',
    checkClock,
    () => ({ status: { ...healthy, alarms: [{ what: 'clock_off', count: 1, at: '2026-12-01T11:30:00Z' }] } }),
    ['clock_off'],
  ],
  [
    'a clock that was off yesterday',
    checkClock,
    () => ({ status: { ...healthy, alarms: [{ what: 'clock_off', count: 1, at: '2026-11-30T11:30:00Z' }] } }),
    [],
  ],
  ['stale rules', checkRules, () => ({ status: withRules({ stale: true, ageS: 90_000 }) }), ['rules_stale']],
  ['rules too new for us', checkRules, () => ({ status: withRules({ unsupported: ['x'] }) }), ['connector_outdated']],
  [
    'a model without a price',
    checkPrices,
    () => ({ status: { ...healthy, sessions: [{ unpriced: ['new-model'] }] } as unknown as DaemonStatus }),
    ['model_unpriced'],
  ],
])('%s', async (_, check, over, expected) => {
  expect(await codes(check, over())).toEqual(expected)
})

test.each(REPORTED_REFUSALS)('rules that do not come in for %s are told in words, with what to do', async code => {
  const status = withRules({ lastError: { code, at: '2026-12-01T11:00:00Z' } })
  const [finding] = await checkRules({ ...examined, status })
  expect(finding).toMatchObject({ code: `rules_refused:${code}`, severity: 'off' })
  expect(finding!.what).toContain(refusalWords(code))
  expect(finding!.fix ?? finding!.todo).toBeTruthy()
})

test.each([
  ['ENOSPC', 'disk_full'],
  ['EROFS', 'home_read_only'],
  ['EACCES', 'home_read_only'],
])('a disk that says %s is found as %s', async (code, expected) => {
  const disk = {
    ...examined.home.disk,
    write: () => {
      throw Object.assign(new Error(code), { code })
    },
  }
  expect(await codes(checkDisk, { home: openHome(examined.home.root, disk) })).toEqual([expected])
  expect(await codes(checkDisk)).toEqual([])
})

test('a second daemon is one whose live process holds the lock; a lock that a dead one left is none', async () => {
  writeJson(examined.home, examined.home.lock, { pid: process.ppid, startedAt: 'x' })
  expect(await codes(checkSecondDaemon)).toEqual(['two_daemons'])
  writeJson(examined.home, examined.home.lock, { pid: 2 ** 30, startedAt: 'x' })
  expect(await codes(checkSecondDaemon)).toEqual([])
  writeJson(examined.home, examined.home.lock, { pid: process.pid, startedAt: 'x' })
  expect(await codes(checkSecondDaemon)).toEqual([])
})

test('a port that the environment points at and another program holds is not taken for the proxy', async () => {
  const server = createServer(socket => socket.destroy())
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  writeFileSync(join(examined.home.root, 'proxy.json'), JSON.stringify({ port, pid: 2 ** 30 }))
  const env = { OPENAI_BASE_URL: `http://127.0.0.1:${port}/openai/v1` }
  const clientHome = { homeDir: folder, env }
  expect(await codes(checkProxyPort, { clientHome })).toEqual(['proxy_port_taken'])
  await new Promise(resolve => server.close(resolve))
  expect(await codes(checkProxyPort, { clientHome })).toEqual(['proxy_down'])
  expect(await codes(checkProxyPort)).toEqual([])
})

test('what cannot be looked at is told, and the rest is looked at', async () => {
  const fails: Check = function checkThat() {
    throw new Error('no')
  }
  const found = await runChecks({ ...examined, nodeVersion: 'v1.0.0' }, [fails, checkNode])
  expect(found.map(({ code }) => code)).toEqual(['not_checked:checkThat', 'node_old'])
})

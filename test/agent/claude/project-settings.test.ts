import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { inspectSettings } from '#agent/clients/claude/inspect.ts'
import { projectSettings } from '#agent/clients/claude/project-settings.ts'
import { planInstall } from '#agent/clients/claude/settings.ts'

let folder: string
let file: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'project-settings-'))
  mkdirSync(join(folder, 'project', '.claude'), { recursive: true })
  file = join(folder, 'project', '.claude', 'settings.json')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))
const read = () => projectSettings(join(folder, 'project'))

test('a project’s settings are read, also behind a link that stays in the project', () => {
  expect(read()).toEqual([])
  writeFileSync(join(folder, 'project', 'shared.json'), '{"a":1}')
  symlinkSync('../shared.json', file)
  writeFileSync(join(folder, 'project', '.claude', 'settings.local.json'), '{}')
  expect(read().map(one => 'text' in one && one.text)).toEqual(['{"a":1}', '{}'])
})

test.skipIf(process.platform === 'win32').each<[string, string, () => void]>([
  ['a pipe', 'is not a file', () => execFileSync('mkfifo', [file])],
  ['a folder', 'is not a file', () => mkdirSync(file)],
  ['more than 64 KiB', 'is larger than 64 KiB', () => writeFileSync(file, `{"a":"${'x'.repeat(64 * 1024)}"}`)],
  [
    'a link out of the project',
    'is a link out of the project',
    () => {
      writeFileSync(join(folder, 'secret.json'), '{"secret":true}')
      symlinkSync(join(folder, 'secret.json'), file)
    },
  ],
  ['a link to a device', 'is a link out of the project', () => symlinkSync('/dev/zero', file)],
  [
    'a folder of settings outside',
    'is a link out of the project',
    () => {
      rmSync(join(folder, 'project', '.claude'), { recursive: true })
      mkdirSync(join(folder, 'project-other'))
      writeFileSync(join(folder, 'project-other', 'settings.json'), '{"secret":true}')
      symlinkSync(join(folder, 'project-other'), join(folder, 'project', '.claude'))
    },
  ],
])('%s in place of a project’s settings is not read, blocks nothing, and is said', (_, unread, make) => {
  make()
  expect(read()).toEqual([{ file, unread }])
  const user = planInstall(undefined, {
    form: 'http',
    hookUrl: 'http://127.0.0.1:1/hook/claude-code',
    hookToken: 'x',
    hookCommand: { exe: '/home/dev/.holdpoint/bin/holdpoint-hook', args: [] },
    whenBroken: 'pass',
  }).text
  const found = inspectSettings({ user: { file: 'user', text: user }, projects: read(), managed: [], env: {} })
  expect(found.findings).toMatchObject([{ severity: 'risk', code: 'settings_unread', file }])
})

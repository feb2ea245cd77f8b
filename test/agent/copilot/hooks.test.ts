import * as fs from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { ClientAdapter } from '#agent/clients/adapter.ts'
import { copilot as adapter } from '#agent/clients/copilot/copilot.ts'
import type { HookInstall } from '#agent/clients/hook-editor.ts'
import { cleanUp, describeEdits, setUp } from '../clients/edited-hooks.ts'

const copilot = adapter as unknown as ClientAdapter

describeEdits({
  adapter: copilot,
  file: '.copilot/hooks/holdpoint.json',
  pause: 'preToolUse',
  moved: { variable: 'COPILOT_HOME', file: 'hooks/holdpoint.json' },
  command: 'bash',
  // nobody else's place, and yet somebody may have put it there
  foreign: `{
\t"version": 1,   "unknown": [1,2 , 3],
\t"hooks": {
\t\t"preToolUse": [
\t\t\t{ "type": "command", "bash": "audit.sh", "matcher": "bash" }
\t\t],
\t\t"postToolUse": [ { "type": "command", "bash": "format.sh" } ]
\t}
}
`,
  entryIn: file =>
    (file.hooks.preToolUse as Record<string, unknown>[]).find(one => String(one.bash).includes('copilot'))!,
  pauseEntry: (exe, hook, whenBroken) => ({
    type: 'command',
    bash:
      whenBroken === 'pass'
        ? `${exe} ${hook} copilot preToolUse || exit $(( $? == 2 ? 2 : 0 ))`
        : `${exe} ${hook} copilot preToolUse block || { [ $? -eq 2 ] || echo 'Holdpoint could not judge this call, and is set to hold what it cannot judge.' >&2; exit 2; }`,
    timeoutSec: 5,
  }),
})

describe('what else switches it off', () => {
  let home: Parameters<typeof copilot.hooks.inspect>[0]
  let request: HookInstall
  let project: string
  beforeEach(() => {
    ;({ home, request } = setUp(copilot))
    project = join(home.homeDir, 'project')
    copilot.hooks.install(home, request, { dryRun: false })
  })
  afterEach(cleanUp)

  const put = (file: string, content: unknown) => {
    fs.mkdirSync(dirname(file), { recursive: true })
    fs.writeFileSync(file, JSON.stringify(content))
  }
  const inspect = (version = '1.0.102') =>
    copilot.hooks.inspect(home, { projectDirs: [project], expected: request, version })

  test('an untouched installation has nothing to say', () => {
    expect(inspect()).toEqual({
      level: 'user-hook',
      form: 'command',
      whenBroken: 'pass',
      outdated: false,
      findings: [],
    })
  })

  test('its own file switched off', () => {
    const file = copilot.hooks.settingsPath(home)
    put(file, { ...JSON.parse(fs.readFileSync(file, 'utf8')), disableAllHooks: true })
    expect(inspect()).toMatchObject({ level: 'broken', findings: [{ severity: 'off', code: 'hooks_disabled', file }] })
  })

  test('a hook that is for some tools only', () => {
    const file = copilot.hooks.settingsPath(home)
    const parsed = JSON.parse(fs.readFileSync(file, 'utf8'))
    parsed.hooks.preToolUse[0].matcher = 'view'
    put(file, parsed)
    expect(inspect()).toMatchObject({ level: 'broken', findings: [{ severity: 'off', code: 'hook_edited' }] })
    copilot.hooks.install(home, request, { dryRun: false })
    expect(inspect().level).toBe('user-hook')
  })

  test.each(['.github/copilot/settings.json', '.claude/settings.json'])('switched off by a repository’s %s', name => {
    put(join(project, name), { disableAllHooks: true })
    expect(inspect()).toMatchObject({
      level: 'broken',
      findings: [{ severity: 'off', code: 'hooks_disabled', file: join(project, name) }],
    })
  })

  test.each([
    '.copilot/settings.json',
    '.copilot/config.json',
    '.copilot/hooks/other.json',
    'project/.github/hooks/off.json',
  ])('%s does not switch it off, as measured', name => {
    put(join(home.homeDir, name), { disableAllHooks: true, version: 1, hooks: {} })
    expect(inspect()).toMatchObject({ level: 'user-hook', findings: [] })
  })

  test('a version before the one that was tried is said', () => {
    expect(inspect('1.0.92').findings.map(({ code }) => code)).toEqual(['client_untested'])
    expect(inspect('1.1.0').findings).toEqual([])
  })
})

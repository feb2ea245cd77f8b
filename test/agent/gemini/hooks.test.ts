import * as fs from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { ClientAdapter } from '#agent/clients/adapter.ts'
import { gemini as adapter } from '#agent/clients/gemini/gemini.ts'
import type { HookInstall } from '#agent/clients/hook-editor.ts'
import { cleanUp, describeEdits, setUp } from '../clients/edited-hooks.ts'

const gemini = adapter as unknown as ClientAdapter

describeEdits({
  adapter: gemini,
  file: '.gemini/settings.json',
  pause: 'BeforeTool',
  moved: { variable: 'GEMINI_CLI_HOME', file: '.gemini/settings.json' },
  command: 'command',
  foreign: `{
\t"model": { "name": "gemini-2.5-flash" },   "unknown": [1,2 , 3],
\t"hooks": {
\t\t"BeforeTool": [
\t\t\t{ "matcher": "write_file", "hooks": [ { "type": "command", "command": "audit.sh" } ] }
\t\t],
\t\t"AfterTool": [ { "hooks": [ { "type": "command", "command": "format.sh" } ] } ]
\t},
\t"security": { "auth": { "selectedType": "gemini-api-key" } }
}
`,
  entryIn: file =>
    (file.hooks.BeforeTool as { hooks: Record<string, unknown>[] }[])
      .flatMap(group => group.hooks)
      .find(one => one.name)!,
  pauseEntry: (exe, hook, whenBroken) => ({
    name: 'holdpoint',
    type: 'command',
    command:
      whenBroken === 'pass'
        ? `${exe} ${hook} gemini BeforeTool || exit $(( $? == 2 ? 2 : 1 ))`
        : `${exe} ${hook} gemini BeforeTool block || { [ $? -eq 2 ] || echo 'Holdpoint could not judge this call, and is set to hold what it cannot judge.' >&2; exit 2; }`,
    timeout: 5000,
  }),
})

describe('what else switches it off', () => {
  let home: Parameters<typeof gemini.hooks.inspect>[0]
  let request: HookInstall
  let project: string
  beforeEach(() => {
    ;({ home, request } = setUp(gemini))
    project = join(home.homeDir, 'project')
    gemini.hooks.install(home, request, { dryRun: false })
  })
  afterEach(cleanUp)

  const put = (file: string, content: unknown) => {
    fs.mkdirSync(dirname(file), { recursive: true })
    fs.writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
  }
  const user = (more: object) => {
    const file = gemini.hooks.settingsPath(home)
    put(file, { ...JSON.parse(fs.readFileSync(file, 'utf8')), ...more })
  }
  const inspect = (more: object = {}) =>
    gemini.hooks.inspect(home, { projectDirs: [project], expected: request, ...more })
  const found = () =>
    inspect().findings.map(({ severity, code, file }) => [severity, code, file?.slice(home.homeDir.length + 1)])

  test('an untouched installation has nothing to say', () => {
    expect(inspect({ version: '0.61.0' })).toEqual({
      level: 'user-hook',
      form: 'command',
      whenBroken: 'pass',
      outdated: false,
      findings: [],
    })
  })

  test.each<[string, () => void, string]>([
    ['hooks switched off', () => user({ hooksConfig: { enabled: false } }), '.gemini/settings.json'],
    [
      'our hook switched off by its name',
      () => user({ hooksConfig: { disabled: ['holdpoint'] } }),
      '.gemini/settings.json',
    ],
    ['a container', () => user({ tools: { sandbox: 'docker' } }), '.gemini/settings.json'],
    [
      'hooks switched off by the project',
      () => put(join(project, '.gemini/settings.json'), '{ // off\n "hooksConfig": { "enabled": false } }'),
      'project/.gemini/settings.json',
    ],
  ])('%s', (_, change, file) => {
    change()
    expect(inspect().level).toBe('broken')
    expect(found()).toEqual([['off', 'hooks_disabled', file]])
  })

  test('comments in its settings are read as the client reads them', () => {
    const file = gemini.hooks.settingsPath(home)
    put(file, `// mine\n${fs.readFileSync(file, 'utf8')}/* "hooksConfig": { "enabled": false } */`)
    expect(inspect()).toMatchObject({ level: 'user-hook', findings: [] })
    expect(gemini.hooks.probe(home)).toBeDefined()
  })

  test.each<[string, string, () => void]>([
    [
      'a folder that is not trusted',
      'folder_untrusted',
      () => put(join(home.homeDir, '.gemini/trustedFolders.json'), { [project]: 'DO_NOT_TRUST' }),
    ],
    [
      'code planted by the project',
      'code_planted',
      () => put(join(project, '.env'), 'A=1\nNODE_OPTIONS=--require ./x.cjs\n'),
    ],
    [
      'project settings that are a link',
      'settings_unread',
      () => {
        put(join(home.homeDir, 'other.json'), '{}')
        fs.mkdirSync(join(project, '.gemini'), { recursive: true })
        fs.symlinkSync(join(home.homeDir, 'other.json'), join(project, '.gemini/settings.json'))
      },
    ],
  ])('%s is a risk, and said, while the hook still holds', (_, code, change) => {
    change()
    expect(inspect()).toMatchObject({ level: 'user-hook', findings: [{ severity: 'risk', code }] })
  })

  test('a version before the one that was tried is said', () => {
    expect(inspect({ version: '0.9.0' }).findings.map(({ code }) => code)).toEqual(['client_untested'])
  })
})

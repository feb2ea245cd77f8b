/** What holds of every client whose hooks are commands in a JSON file: how that file is edited, and what is found wrong in it. */
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { ClientAdapter } from '#agent/clients/adapter.ts'
import type { ClientHome } from '#agent/clients/client-home.ts'
import type { HookInstall } from '#agent/clients/hook-editor.ts'

export type EditedHooks = {
  adapter: ClientAdapter
  /** Below the home. */
  file: string
  /** A file of somebody else's, with odd layout, a foreign hook at the pause point and one elsewhere. */
  foreign: string
  pause: string
  /** A variable that moves the client's folder, where it has one, and where the file is then below the folder it names. */
  moved?: { variable: string; file: string }
  /** What stands at the pause point in a new file, for a program at `exe hook`. */
  pauseEntry(exe: string, hook: string, whenBroken: HookInstall['whenBroken']): unknown
  /** Its entry in a parsed file. */
  entryIn(file: { hooks: Record<string, unknown[]> }): Record<string, unknown>
  /** The field that holds the command. */
  command: string
}

let root: string
let home: ClientHome
let request: HookInstall

export function setUp(adapter: ClientAdapter): { home: ClientHome; request: HookInstall } {
  root = fs.mkdtempSync(join(tmpdir(), 'edited-hooks-'))
  home = { homeDir: join(root, 'home'), env: {} }
  const bin = join(home.homeDir, '.holdpoint/bin')
  fs.mkdirSync(bin, { recursive: true })
  fs.writeFileSync(join(bin, 'hook.cjs'), '')
  fs.writeFileSync(join(bin, 'node'), '')
  request = {
    form: 'command',
    hookUrl: `http://127.0.0.1:7421${adapter.hookPath}`,
    hookToken: 'hpk_token',
    hookCommand: { exe: join(bin, 'node'), args: [join(bin, 'hook.cjs')] },
    whenBroken: 'pass',
  }
  return { home, request }
}
export const cleanUp = () => fs.rmSync(root, { recursive: true, force: true })

export function describeEdits({
  adapter,
  file,
  foreign,
  pause,
  moved,
  pauseEntry,
  entryIn,
  command,
}: EditedHooks): void {
  const { hooks } = adapter
  const path = () => join(home.homeDir, file)
  const install = (more: Partial<HookInstall> = {}) => hooks.install(home, { ...request, ...more }, { dryRun: false })
  const text = () => fs.readFileSync(path(), 'utf8')
  const write = (content: string) => {
    fs.mkdirSync(dirname(path()), { recursive: true })
    fs.writeFileSync(path(), content)
  }
  const inspect = (more: object = { expected: request }) => hooks.inspect(home, { projectDirs: [], ...more })
  const edit = (change: (entry: Record<string, unknown>, parsed: { hooks: Record<string, unknown[]> }) => void) => {
    const parsed = JSON.parse(text())
    change(entryIn(parsed), parsed)
    write(JSON.stringify(parsed))
  }
  const codes = () =>
    inspect()
      .findings.filter(({ severity }) => severity === 'off')
      .map(({ code }) => code)

  beforeEach(() => void setUp(adapter))
  afterEach(cleanUp)

  describe('what is installed', () => {
    test.each(['pass', 'block'] as const)(
      'stands at the pause point, and is asked for the client and event: %s',
      whenBroken => {
        install({ whenBroken })
        expect(entryIn(JSON.parse(text()))).toEqual(
          pauseEntry(request.hookCommand.exe, request.hookCommand.args[0]!, whenBroken),
        )
        expect(text()).not.toContain('hpk_token')
        expect(inspect({ expected: { ...request, whenBroken } })).toMatchObject({
          level: 'user-hook',
          form: 'command',
          whenBroken,
          outdated: false,
        })
      },
    )

    test('twice gives the same bytes, and another program is put where the former stood', () => {
      install()
      const first = text()
      expect(install().changes).toEqual([])
      expect(text()).toBe(first)
      const other = join(home.homeDir, '.holdpoint/bin/hook-2.cjs')
      fs.writeFileSync(other, '')
      expect(
        inspect({ expected: { ...request, hookCommand: { ...request.hookCommand, args: [other] } } }),
      ).toMatchObject({
        level: 'broken',
        outdated: true,
      })
      install({ hookCommand: { ...request.hookCommand, args: [other] } })
      expect(text()).toBe(first.replaceAll('hook.cjs', 'hook-2.cjs'))
    })

    test('other people’s entries keep every byte, and uninstall brings the former bytes back', () => {
      write(foreign)
      const change = install()
      expect(fs.readFileSync(change.backup!, 'utf8')).toBe(foreign)
      let at = 0
      for (const line of foreign.trimEnd().split('\n')) {
        const found = text().indexOf(line.replace(/ \]$/, '').trimEnd(), at)
        expect(found, line).toBeGreaterThanOrEqual(at)
        at = found
      }
      expect(hooks.uninstall(home, { dryRun: false }).changes.length).toBeGreaterThan(0)
      expect(text()).toBe(foreign)
      expect(fs.existsSync(change.backup!)).toBe(false)
    })

    test('uninstall after somebody’s own edit takes our entries out and nothing else', () => {
      write(foreign)
      install()
      write(text().replace(/\}\s*$/, ', "later": true}'))
      hooks.uninstall(home, { dryRun: false })
      expect(JSON.parse(text())).toEqual({ ...JSON.parse(foreign), later: true })
    })

    test('a file that was not there is not there again', () => {
      install()
      expect(fs.statSync(path()).mode & 0o777).toBe(0o600)
      hooks.uninstall(home, { dryRun: false })
      expect(fs.existsSync(path())).toBe(false)
    })

    test('a dry run writes nothing and shows both texts', () => {
      write(foreign)
      const change = hooks.install(home, request, { dryRun: true })
      expect(change).toMatchObject({ dryRun: true, before: foreign, file: path() })
      expect(change.after).not.toBe(foreign)
      expect(text()).toBe(foreign)
      expect(fs.readdirSync(dirname(path()))).toHaveLength(1)
    })

    test.each([
      ['{\n  "hooks": { oops }\n}', 'unparsable', { line: 2, column: 14 }],
      ['{\n  // mine\n  "hooks": {}\n}', 'unparsable', { line: 2, column: 3 }],
      ['{\n "hooks": []\n}', 'wrong_shape', { line: 2, column: 11 }],
    ])('what cannot be edited safely is left alone, and the place is told', (content, code, place) => {
      write(content)
      expect(() => install()).toThrow(expect.objectContaining({ code, ...place }))
      expect(text()).toBe(content)
    })

    if (moved)
      test('the client’s own variable moves it', () => {
        home = { ...home, env: { [moved.variable]: join(root, 'elsewhere') } }
        install()
        expect(hooks.settingsPath(home)).toBe(join(root, 'elsewhere', moved.file))
        expect(fs.existsSync(join(root, 'elsewhere', moved.file))).toBe(true)
        expect(fs.existsSync(path())).toBe(false)
      })

    test('an entry that could not be known again is never written', () => {
      expect(() => install({ hookCommand: { exe: '/usr/bin/node', args: ['/opt/x.mjs'] } })).toThrow(RangeError)
    })

    test('a path with spaces and quotes is one word of the shell’s', () => {
      const odd = join(home.homeDir, ".holdpoint/it's odd/hook.cjs")
      fs.mkdirSync(dirname(odd), { recursive: true })
      fs.writeFileSync(odd, '')
      const hookCommand = { ...request.hookCommand, args: [odd] }
      install({ hookCommand })
      expect(inspect({ expected: { ...request, hookCommand } })).toMatchObject({ level: 'user-hook', outdated: false })
    })
  })

  describe('what is found', () => {
    beforeEach(() => void install())

    test('nothing of ours is not installed', () => {
      write(foreign)
      expect(inspect().level).toBe('not-installed')
      expect(hooks.probe(home)).toBeUndefined()
    })

    test('the installed command is what a test event is sent through', () => {
      const shell = entryIn(JSON.parse(text()))[command]
      expect(hooks.probe(home)).toMatchObject({ form: 'command', run: { shell }, env: {} })
    })

    test.each<[string, string, Parameters<typeof edit>[0]]>([
      ['the hook taken out', 'hook_removed', (_, parsed) => delete parsed.hooks[pause]],
      [
        'answers that are thrown away',
        'hook_edited',
        entry => (entry[command] = String(entry[command]).replace(/( \|\|.*)?$/, ' || true')),
      ],
      ['hardly any time', 'hook_edited', entry => Object.assign(entry, { timeout: 0.001, timeoutSec: 0.001 })],
      [
        'another program',
        'hook_elsewhere',
        entry => (entry[command] = String(entry[command]).replace('hook.cjs', 'holdpoint-else')),
      ],
    ])('%s is told as off', (_, code, change) => {
      edit(change)
      expect(inspect().level).toBe('broken')
      expect(codes()).toContain(code)
    })

    test('a program that is gone is told as off', () => {
      fs.rmSync(request.hookCommand.args[0]!)
      expect(codes()).toContain('hook_program_missing')
    })

    test('a file that the client cannot read is told as off', () => {
      write('{ nope')
      expect(inspect()).toMatchObject({ level: 'broken', findings: [{ severity: 'off', code: 'settings_unusable' }] })
      expect(hooks.probe(home)).toBeUndefined()
    })
  })
}

import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { ClientHome } from '#agent/clients/client-home.ts'
import { codex } from '#agent/clients/codex/codex.ts'
import { codexHooks } from '#agent/clients/codex/hooks-file.ts'
import { digestOf, keyOf } from '#agent/clients/codex/trust.ts'
import type { HookInspection, HookInstall, WhenBroken } from '#agent/clients/hook-editor.ts'
import { findOurs } from '#agent/clients/hook-lists.ts'

let dir: string
let home: ClientHome
beforeEach(() => {
  dir = fs.mkdtempSync(join(tmpdir(), 'holdpoint-codex-'))
  home = { homeDir: dir, env: {} }
  put('.holdpoint/bin/hook.cjs', '')
})
afterEach(() => fs.rmSync(dir, { recursive: true, force: true }))

const put = (path: string, content: string) => {
  const file = join(dir, path)
  fs.mkdirSync(dirname(file), { recursive: true })
  fs.writeFileSync(file, content)
  return file
}
const requestFor = (whenBroken: WhenBroken = 'pass'): HookInstall => ({
  form: 'command',
  hookUrl: 'http://127.0.0.1:1/hook/codex',
  hookToken: 'secret-token',
  hookCommand: { exe: process.execPath, args: [join(dir, '.holdpoint/bin/hook.cjs')] },
  whenBroken,
})
const install = (whenBroken?: WhenBroken) => codex.hooks.install(home, requestFor(whenBroken), { dryRun: false })
const hooksFile = () => codex.hooks.settingsPath(home)
const readText = () => fs.readFileSync(hooksFile(), 'utf8')
const inspect = (expected?: HookInstall, projectDirs: string[] = []): HookInspection =>
  codex.hooks.inspect(home, { projectDirs, ...(expected ? { expected } : {}), version: '0.171.0' })
const codes = (found: HookInspection) => found.findings.map(({ severity, code }) => `${severity} ${code}`)

/** The configuration as Codex leaves it when it was told to trust our hooks as they stand. */
function trust(more = '', change = (digest: string) => digest): string {
  const entries = findOurs(JSON.parse(readText()), codexHooks.lists)
  const states = entries.map(
    entry =>
      `[hooks.state.${JSON.stringify(keyOf(hooksFile(), entry))}]\ntrusted_hash = "${change(digestOf(entry))}"\n`,
  )
  return put('.codex/config.toml', `model = "gpt-5.5"\n${more}\n${states.join('\n')}`)
}

describe('install', () => {
  const OTHERS = `{
    "hooks": {
        "PreToolUse": [ { "matcher": "Bash", "hooks": [ { "type": "command", "command": "mine --check" } ] } ],
        "Stop": [ { "hooks": [ { "type": "command", "command": "say done", "timeout": 3 } ] } ]
    }
}
`

  test('keeps what is there, holds no token, and twice changes nothing; uninstall gives the former bytes back', () => {
    put('.codex/hooks.json', OTHERS)
    const change = install()
    expect(change.changes).toHaveLength(4)
    const text = readText()
    expect(text).not.toContain('secret-token')
    expect(text).toContain('[ { "matcher": "Bash", "hooks": [ { "type": "command", "command": "mine --check" } ] }')
    const { hooks } = JSON.parse(text)
    expect(Object.keys(hooks)).toEqual(['PreToolUse', 'Stop', 'SessionStart', 'UserPromptSubmit'])
    // one line for the client's shell, none of a kind that it does not know
    expect(hooks.PreToolUse[1]).toEqual({
      matcher: '*',
      hooks: [
        {
          type: 'command',
          command: `${process.execPath} ${join(dir, '.holdpoint/bin/hook.cjs')} codex PreToolUse`,
          timeout: 5,
        },
      ],
    })
    expect(install().changes).toEqual([])
    expect(readText()).toBe(text)
    codex.hooks.uninstall(home, { dryRun: false })
    expect(readText()).toBe(OTHERS)
  })

  test('without a file makes one, and takes it away again', () => {
    expect(codex.hooks.install(home, requestFor(), { dryRun: true }).changes).toHaveLength(4)
    expect(fs.existsSync(hooksFile())).toBe(false)
    install()
    codex.hooks.uninstall(home, { dryRun: false })
    expect(fs.existsSync(hooksFile())).toBe(false)
  })

  test('goes where CODEX_HOME says', () => {
    home = { homeDir: dir, env: { CODEX_HOME: join(dir, 'elsewhere') } }
    install()
    expect(hooksFile()).toBe(join(dir, 'elsewhere/hooks.json'))
    expect(fs.existsSync(hooksFile())).toBe(true)
  })

  test('quotes a path for the shell, and knows it again', () => {
    const path = put("it's here/.holdpoint/bin/hook.cjs", '')
    const request = { ...requestFor('block'), hookCommand: { exe: process.execPath, args: [path] } }
    codex.hooks.install(home, request, { dryRun: false })
    expect(codex.hooks.install(home, request, { dryRun: false }).changes).toEqual([])
    expect(codes(inspect(request))).not.toContain('off hook_program_missing')
    expect(codex.hooks.uninstall(home, { dryRun: false }).changes).toHaveLength(4)
  })

  test.each([
    ['{ "hooks": oops }', 'unparsable', { line: 1, column: 12 }],
    ['[]', 'wrong_shape', { line: 1, column: 1 }],
    ['{\n "hooks": { "Stop": {} }\n}', 'wrong_shape', { line: 2, column: 21 }],
  ])('refuses %s with the place and writes nothing', (content, code, place) => {
    put('.codex/hooks.json', content)
    expect(() => install()).toThrowError(expect.objectContaining({ code, ...place, file: hooksFile() }))
    expect(readText()).toBe(content)
  })

  test('the canary goes through the whole line that stands there', () => {
    install('block')
    const { command } = JSON.parse(readText()).hooks.PreToolUse[0].hooks[0]
    expect(codex.hooks.probe(home)).toEqual({ form: 'command', run: { shell: command }, timeoutMs: 5000, env: {} })
    codex.hooks.uninstall(home, { dryRun: false })
    expect(codex.hooks.probe(home)).toBeUndefined()
  })
})

describe('inspect', () => {
  test('not installed, and in force once Codex was told to trust every hook as it stands', () => {
    expect(inspect()).toMatchObject({ level: 'not-installed' })
    install()
    expect(codex.hooks.trust!.isTrusted(home)).toBe(false)
    trust()
    expect(inspect(requestFor())).toEqual({
      level: 'user-hook',
      form: 'command',
      whenBroken: 'pass',
      outdated: false,
      findings: [],
    })
    expect(codex.hooks.trust!.isTrusted(home)).toBe(true)
  })

  test('hooks that Codex was not told to trust, or that were changed since, are off: it passes them over without a word', () => {
    install()
    expect(codes(inspect())).toEqual([
      'off hook_not_trusted',
      'risk hook_not_trusted',
      'risk hook_not_trusted',
      'risk hook_not_trusted',
    ])
    expect(inspect().level).toBe('broken')
    trust()
    const { hooks } = JSON.parse(readText())
    hooks.PreToolUse[0].hooks[0].timeout = 6
    fs.writeFileSync(hooksFile(), JSON.stringify({ hooks }))
    expect(codes(inspect())).toEqual(['off hook_not_trusted'])
    expect(inspect().findings[0]!.text).toContain('is not the one that Codex was told to trust')
    expect(codex.hooks.trust!.isTrusted(home)).toBe(false)
  })

  test('a hook that is moved to another place is not trusted there', () => {
    install()
    trust()
    const { hooks } = JSON.parse(readText())
    hooks.PreToolUse.unshift({ hooks: [{ type: 'command', command: 'mine' }] })
    fs.writeFileSync(hooksFile(), JSON.stringify({ hooks }))
    expect(codes(inspect())).toEqual(['off hook_not_trusted'])
  })

  test('what `block` adds to the line is known again, and a changed time-out of it is told', () => {
    install('block')
    trust()
    expect(inspect(requestFor('block'))).toMatchObject({
      level: 'user-hook',
      whenBroken: 'block',
      outdated: false,
      findings: [],
    })
    expect(inspect(requestFor('pass'))).toMatchObject({ outdated: true })
    const { hooks } = JSON.parse(readText())
    hooks.PreToolUse[0].hooks[0].timeout = 1
    fs.writeFileSync(hooksFile(), JSON.stringify({ hooks }))
    expect(codes(inspect())).toContain('off hook_edited')
  })

  test.each<[string, string, string]>([
    ['features.hooks = false', 'off hooks_disabled', '[features]\nhooks = false'],
    ['hooks of its own', 'risk hooks_twice', '[[hooks.PreToolUse]]\nhooks = [{ type = "command", command = "x" }]'],
  ])('config.toml with %s', (_, code, toml) => {
    install()
    trust(toml)
    expect(codes(inspect())).toEqual([code])
  })

  test('config.toml that cannot be read, and a hook that was switched off in it', () => {
    install()
    put('.codex/config.toml', 'model = [')
    expect(codes(inspect())).toEqual(['risk settings_unread'])
    const [entry] = findOurs(JSON.parse(readText()), codexHooks.lists)
    put(
      '.codex/config.toml',
      `[hooks.state]\n"${keyOf(hooksFile(), entry!)}" = { trusted_hash = "${digestOf(entry!)}", enabled = false }`,
    )
    expect(codes(inspect())[0]).toBe('off hook_switched_off')
  })

  test('a project that switches hooks off is told, with the file', () => {
    install()
    trust()
    const file = put('project/.codex/config.toml', 'features.hooks = false')
    expect(inspect(undefined, [join(dir, 'project')]).findings).toMatchObject([
      { severity: 'off', code: 'hooks_disabled', file },
    ])
  })

  test.each<[string, (file: { hooks: Record<string, unknown[]>; more?: number }) => void]>([
    ['an http hook', ({ hooks }) => hooks.PreToolUse!.push({ hooks: [{ type: 'http', url: 'http://x' }] })],
    [
      'a member that Codex does not know',
      file => {
        file.more = 1
      },
    ],
  ])('%s in the file makes Codex read none of it', (_, change) => {
    install()
    trust()
    const file = JSON.parse(readText())
    change(file)
    fs.writeFileSync(hooksFile(), JSON.stringify(file))
    expect(codes(inspect())).toEqual(['off foreign_entry_invalid'])
    expect(inspect().level).toBe('broken')
  })

  test('a file that is no JSON, a hook that was taken out, and a program that is gone', () => {
    install()
    trust()
    const text = readText()
    put('.codex/hooks.json', '{ broken')
    expect(inspect()).toMatchObject({ level: 'broken', findings: [{ code: 'settings_unusable' }] })
    const { hooks } = JSON.parse(text)
    fs.writeFileSync(hooksFile(), JSON.stringify({ hooks: { ...hooks, PreToolUse: [] } }))
    expect(codes(inspect())).toEqual(['off hook_removed'])
    fs.writeFileSync(hooksFile(), text)
    fs.rmSync(join(dir, '.holdpoint/bin/hook.cjs'))
    expect(codes(inspect())).toEqual(['off hook_program_missing'])
  })

  test('a version older than any that was tried', () => {
    install()
    trust()
    const of = (version: string) => codes(codex.hooks.inspect(home, { projectDirs: [], version }))
    expect(of('0.170.9')).toEqual(['risk client_untested'])
    expect(of('0.171.0')).toEqual([])
    expect(of('1.0.0')).toEqual([])
  })
})

describe('telling Codex to trust them', () => {
  /** A program in Codex's place that answers as it does. */
  const program = (script: string) => {
    const file = put('codex.cjs', `#!${process.execPath}\n${script}`)
    fs.chmodSync(file, 0o755)
    return file
  }
  const grant = (exe: string) => codex.hooks.trust!.grant(home, { exe, cwd: dir })

  test('a program that answers nothing of use, ends, or is not there is a reason, not an error', async () => {
    install()
    expect(await grant(program('process.exit(3)'))).toMatchObject({ ok: false, why: 'it ended without an answer' })
    expect(await grant(join(dir, 'nowhere'))).toMatchObject({ ok: false, why: expect.stringContaining('ENOENT') })
    const refusing = `process.stdin.on('data', d => { for (const l of String(d).split('\\n')) { if (!l) continue
      const { id } = JSON.parse(l); if (id) console.log(JSON.stringify({ id, error: { message: 'unknown method' } })) } })`
    expect(await grant(program(refusing))).toEqual({ ok: false, why: 'unknown method' })
  })

  test('only hooks of ours are named, by the digests that it gives itself', async () => {
    install()
    const log = join(dir, 'written.json')
    const { command } = JSON.parse(readText()).hooks.PreToolUse[0].hooks[0]
    const hook = (key: string, line: string) => ({
      key,
      command: line,
      sourcePath: hooksFile(),
      currentHash: `sha256:${key}`,
    })
    const listed = [
      hook('ours', command),
      hook('theirs', 'mine --check'),
      { ...hook('other', command), sourcePath: '/x/hooks.json' },
    ]
    const answering = `let trusted = false; const hooks = ${JSON.stringify(listed)}
      process.stdin.on('data', d => { for (const l of String(d).split('\\n')) { if (!l) continue
      const { id, method, params } = JSON.parse(l); if (!id) continue
      if (method === 'config/batchWrite') { trusted = true; require('fs').writeFileSync(${JSON.stringify(log)}, JSON.stringify(params)) }
      console.log(JSON.stringify({ id, result: { data: [{ hooks: hooks.map(h => ({ ...h, trustStatus: trusted && h.key === 'ours' ? 'trusted' : 'untrusted' })) }] } })) } })`
    expect(await grant(program(answering))).toEqual({ ok: true })
    expect(JSON.parse(fs.readFileSync(log, 'utf8')).edits).toEqual([
      { keyPath: 'hooks.state', value: { ours: { trusted_hash: 'sha256:ours' } }, mergeStrategy: 'upsert' },
    ])
  })
})

import * as fs from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { cursor } from '#agent/clients/cursor/cursor.ts'
import type { HookInstall } from '#agent/clients/hook-editor.ts'
import { cleanUp, describeEdits, setUp } from '../clients/edited-hooks.ts'

describeEdits({
  adapter: cursor,
  file: '.cursor/hooks.json',
  pause: 'preToolUse',
  command: 'command',
  foreign: `{
\t"version": 1,   "unknown": [1,2 , 3],
\t"hooks": {
\t\t"preToolUse": [
\t\t\t{ "command": "./hooks/validate-tool.sh", "matcher": "Shell|Read|Write" }
\t\t],
\t\t"afterFileEdit": [ { "command": "./format.sh" } ]
\t}
}
`,
  entryIn: file =>
    (file.hooks.preToolUse as Record<string, unknown>[]).find(one => String(one.command).includes('cursor'))!,
  pauseEntry: (exe, hook, whenBroken) =>
    whenBroken === 'pass'
      ? { command: `${exe} ${hook} cursor preToolUse` }
      : {
          command: `${exe} ${hook} cursor preToolUse block || { [ $? -eq 2 ] || echo 'Holdpoint could not judge this call, and is set to hold what it cannot judge.' >&2; exit 2; }`,
          failClosed: true,
        },
})

describe('what else is found', () => {
  let home: Parameters<typeof cursor.hooks.inspect>[0]
  let request: HookInstall
  let project: string
  beforeEach(() => {
    ;({ home, request } = setUp(cursor))
    request = { ...request, whenBroken: 'block' }
    project = join(home.homeDir, 'project')
    cursor.hooks.install(home, request, { dryRun: false })
  })
  afterEach(cleanUp)

  const inspect = () => cursor.hooks.inspect(home, { projectDirs: [project], expected: request })
  const edit = (change: (hooks: Record<string, Record<string, unknown>[]>) => void) => {
    const file = cursor.hooks.settingsPath(home)
    const parsed = JSON.parse(fs.readFileSync(file, 'utf8'))
    change(parsed.hooks)
    fs.writeFileSync(file, JSON.stringify(parsed))
  }

  test('an untouched installation has nothing to say', () => {
    expect(inspect()).toMatchObject({ level: 'user-hook', whenBroken: 'block', outdated: false, findings: [] })
  })

  test('the hook for subagents refuses when broken, too', () => {
    edit(hooks => expect(hooks.subagentStart).toEqual([expect.objectContaining({ failClosed: true })]))
  })

  test.each<[string, string, Parameters<typeof edit>[0]]>([
    ['a hook for some tools only', 'off', hooks => Object.assign(hooks.preToolUse![0]!, { matcher: 'Shell' })],
    ['a hook for some subagents only', 'off', hooks => Object.assign(hooks.subagentStart![0]!, { matcher: 'explore' })],
    ['failClosed taken away', 'risk', hooks => delete hooks.preToolUse![0]!.failClosed],
  ])('%s', (_, severity, change) => {
    edit(change)
    expect(inspect().findings).toContainEqual(expect.objectContaining({ severity, code: 'hook_edited' }))
  })

  test('hooks of a project are a risk, and said: their answers stand above a user’s', () => {
    const file = join(project, '.cursor/hooks.json')
    fs.mkdirSync(dirname(file), { recursive: true })
    fs.writeFileSync(file, JSON.stringify({ version: 1, hooks: { preToolUse: [{ command: 'true' }] } }))
    expect(inspect()).toMatchObject({ level: 'user-hook', findings: [{ severity: 'risk', file }] })
  })
})

test('it says of itself that it was not tried, and that nothing is read', () => {
  expect(cursor.limits[0]).toBe('Not tried against the real client: built from its documents.')
  const read = cursor.usage.readSession({ homeDir: '/nonexistent', env: {} }, { sessionId: 'x' }, undefined, {
    rateCard: 'x',
    price: () => ({ picoUsd: 0n, fallback: false }),
  })
  expect(read).toMatchObject({ costPicoUsd: undefined, fresh: false, records: [] })
})

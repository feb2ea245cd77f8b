import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { windowsIn } from '#agent/clients/codex/plan.ts'
import { Machine } from '../daemon/world.ts'

const AT = Date.parse('2026-11-30T12:00:00Z')
const RESETS = AT / 1000 + 3600
const short = { used_percent: 12.5, window_minutes: 300, resets_at: RESETS }
const long = { used_percent: 40, window_minutes: 10_080, resets_at: RESETS + 86_400 }

describe('an account of the limits', () => {
  test.each([
    [
      'of both windows, in whichever place',
      { primary: long, secondary: short },
      [
        ['week', 40],
        ['5h', 12.5],
      ],
    ],
    [
      'without lengths, as older versions wrote it',
      {
        primary: { used_percent: 5, resets_in_seconds: 3600 },
        secondary: { used_percent: 6, resets_in_seconds: 90_000 },
      },
      [
        ['5h', 5],
        ['week', 6],
      ],
    ],
    ['that is a minute off', { primary: { ...short, window_minutes: 299 } }, [['5h', 12.5]]],
    ['of a window of another length', { primary: { ...short, window_minutes: 60 } }, undefined],
    ['of one model', { limit_id: 'codex_other', primary: short }, undefined],
    ['of a key', { limit_id: 'codex', primary: null, secondary: null, plan_type: null }, undefined],
    ['without its end', { primary: { used_percent: 5, window_minutes: 300 } }, undefined],
    ['of no number', { primary: { ...short, used_percent: 'all' } }, undefined],
  ])('%s', (_, limits, expected) => {
    expect(windowsIn(limits, AT)?.windows.map(({ window, usedPct }) => [window, usedPct])).toEqual(expected)
  })

  test('says when a window ends, from then or as a moment', () => {
    const relative = { ...short, resets_at: undefined, resets_in_seconds: 3600 }
    for (const primary of [short, relative])
      expect(windowsIn({ primary }, AT)).toMatchObject({
        plan: 'openai',
        observedAt: AT,
        windows: [{ resetsAt: RESETS * 1000 }],
      })
  })
})

test('what its records tell holds Codex’s calls and no other client’s, and is too old after five minutes', async () => {
  const machine = new Machine()
  machine.config(
    'boundaries:\n  - name: plan-floor\n    action: continue\n    when: { plan_left_pct: "< 50" }\n    require: deny\n    stage: enforce\n',
  )
  const thread = '00000000-0000-7000-8000-000000000001'
  const folder = join(machine.folder, 'dev', '.codex', 'sessions', '2026', '11', '30')
  mkdirSync(folder, { recursive: true })
  const path = join(folder, `rollout-2026-11-30T12-00-00-${thread}.jsonl`)
  const line = (type: string, payload: object) =>
    `${JSON.stringify({ timestamp: new Date(machine.now()).toISOString(), type, payload })}\n`
  const account = (used_percent: number) => {
    const primary = { used_percent, window_minutes: 300, resets_at: Math.floor(machine.now() / 1000) + 3600 }
    return line('event_msg', { type: 'token_count', info: null, rate_limits: { limit_id: 'codex', primary } })
  }
  const meta = line('session_meta', { id: thread, session_id: thread, cwd: machine.cwd, model_provider: 'openai' })
  writeFileSync(path, meta + account(40))
  await machine.start()
  const call = (tool_use_id: string) =>
    machine.ask('POST', '/hook/codex', {
      token: 'hook',
      headers: { 'x-holdpoint-form': 'command' },
      body: JSON.stringify({
        hook_event_name: 'PreToolUse',
        session_id: thread,
        turn_id: 'turn',
        transcript_path: path,
        cwd: machine.cwd,
        model: 'gpt-5.5',
        permission_mode: 'default',
        tool_name: 'Bash',
        tool_use_id,
        tool_input: { command: 'true' },
      }),
    })
  const exit = async (id: string) => (await call(id)).json.exit
  expect(await exit('call_1')).toBe(0)
  writeFileSync(path, account(60), { flag: 'a' })
  expect(await exit('call_2')).not.toBe(0)
  // Claude Code draws on another plan, of which nothing is known
  expect((await machine.hook()).body).toBe('')
  machine.offset += 5 * 60_000 + 1000
  expect(await exit('call_3')).toBe(0)
})

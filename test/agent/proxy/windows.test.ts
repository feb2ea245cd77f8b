import { expect, test } from 'vitest'
import { Windows, windowsIn } from '#agent/proxy/windows.ts'

const NOW = Date.parse('2026-12-01T12:00:00Z')
const SOON = NOW / 1000 + 3600

test('what each provider tells of its plan in headers, and nothing where it is no number or no such window', () => {
  const anthropic = {
    'anthropic-ratelimit-unified-5h-utilization': '0.417',
    'anthropic-ratelimit-unified-5h-reset': String(SOON),
    'anthropic-ratelimit-unified-7d-utilization': '1.2',
    'anthropic-ratelimit-unified-status': 'allowed',
  }
  expect(windowsIn(anthropic, 'anthropic', NOW)).toEqual([
    { provider: 'anthropic', window: '5h', usedPct: 41.699999999999996, resetsAt: SOON * 1000, atMs: NOW },
    { provider: 'anthropic', window: 'week', usedPct: 120, atMs: NOW },
  ])
  const codex = {
    'x-codex-primary-used-percent': '12.5',
    'x-codex-primary-window-minutes': '300',
    'x-codex-primary-reset-after-seconds': '60',
    'x-codex-secondary-used-percent': '40',
    'x-codex-secondary-window-minutes': '10080',
    'x-codex-secondary-reset-at': String(SOON),
  }
  expect(windowsIn(codex, 'openai', NOW)).toEqual([
    { provider: 'openai', window: '5h', usedPct: 12.5, resetsAt: NOW + 60_000, atMs: NOW },
    { provider: 'openai', window: 'week', usedPct: 40, resetsAt: SOON * 1000, atMs: NOW },
  ])
  for (const odd of ['', 'NaN', '-1', '1e9', '0x1', '9'.repeat(40)])
    expect(windowsIn({ 'anthropic-ratelimit-unified-5h-utilization': odd }, 'anthropic', NOW), odd).toEqual([])
  expect(windowsIn({ ...codex, 'x-codex-primary-window-minutes': '60' }, 'openai', NOW)).toHaveLength(1)
})

test('a figure is the newest reading of its own provider, and none once the window has begun anew', () => {
  const windows = new Windows()
  const reading = { provider: 'anthropic', window: '5h', resetsAt: NOW + 1000, atMs: NOW } as const
  windows.note([{ ...reading, usedPct: 10 }])
  windows.note([{ ...reading, usedPct: 120 }])
  expect(windows.figures('anthropic', NOW)).toMatchObject([{ name: 'plan_left_pct', qualifier: '5h', value: 0 }])
  expect(windows.figures('openai', NOW)).toEqual([])
  expect(windows.figures('anthropic', NOW + 1000)).toEqual([])
})

import { describe, expect, test } from 'vitest'
import type { PlanWindow } from '#agent/figures/plan-window.ts'
import { PlanWindows, plansOf } from '#agent/figures/windows.ts'
import { formatMicros, type Micros } from '#core/money.ts'
import type { SeenWindow } from '#core/plan-window.ts'

const START = Date.parse('2026-11-30T12:00:00Z')
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const FIVE_HOURS: SeenWindow = { window: '5h', usedPct: 40, resetsAt: START + 2 * HOUR }
const WEEK: SeenWindow = { window: 'week', usedPct: 70, resetsAt: START + 72 * HOUR }

/** The windows of one machine, told by its status line unless another is named. */
class Told {
  now = START
  readonly kept: PlanWindow[] = []
  readonly odd: string[] = []
  windows = this.open()

  private open(): PlanWindows {
    const newest = new Map(this.kept.map(window => [`${window.plan} ${window.window}`, window]))
    return new PlanWindows({
      now: () => this.now,
      known: newest.values(),
      look: () => undefined,
      keep: window => this.kept.push(window),
      odd: note => this.odd.push(note),
    })
  }

  restart(): void {
    this.windows = this.open()
  }

  tell(
    windows: SeenWindow[],
    {
      plan = 'anthropic',
      observedAt = this.now,
      source = 'status_line',
    }: { plan?: 'anthropic' | 'openai'; observedAt?: number; source?: 'status_line' | 'daemon' } = {},
  ): void {
    this.windows.note({ plan, observedAt, windows }, source)
  }

  /** What a rule reads, `5h 60`. */
  read(client: { client: string; provider?: string } = { client: 'claude-code' }): string[] {
    return this.windows
      .readings(plansOf(client))
      .map(({ qualifier, value }) => `${qualifier} ${formatMicros(value as Micros)}`)
  }
}

describe('what is left of a plan', () => {
  test('is what its newest account says, of each window', () => {
    const told = new Told()
    told.tell([FIVE_HOURS, WEEK])
    expect(told.read()).toEqual(['5h 60', 'week 30'])
    told.tell([{ ...FIVE_HOURS, usedPct: 41.7 }])
    expect(told.read()).toEqual(['5h 58.3', 'week 30'])
    expect([told.windows.isRead('5h'), told.windows.isRead(undefined)]).toEqual([true, true])
  })

  test('is unread before it was told and after its window has ended, never nothing and never all of it', () => {
    const told = new Told()
    expect(told.read()).toEqual([])
    expect(told.windows.isRead(undefined)).toBe(false)
    told.tell([FIVE_HOURS, WEEK])
    told.now = FIVE_HOURS.resetsAt
    expect(told.read()).toEqual(['week 30'])
    expect([told.windows.isRead('5h'), told.windows.isRead('week')]).toEqual([false, false])
  })

  test('is nothing to clients that another plan or a key pays for, whoever makes their model', () => {
    const told = new Told()
    told.tell([FIVE_HOURS, WEEK])
    for (const client of ['copilot', 'cursor', 'gemini'])
      for (const provider of [{}, { provider: 'anthropic' }])
        if (client !== 'gemini' || !provider.provider) expect(told.read({ client, ...provider }), client).toEqual([])
  })

  test('is unread half an hour after the status line told it, and five minutes after records did', () => {
    const told = new Told()
    told.tell([FIVE_HOURS])
    told.tell([WEEK], { plan: 'openai', source: 'daemon' })
    const isRead = () => [told.windows.isRead('5h'), told.windows.isRead('week')]
    told.now = START + 5 * MINUTE
    expect(isRead()).toEqual([true, true])
    told.now++
    expect(isRead()).toEqual([true, false])
    told.now = START + 30 * MINUTE
    expect(isRead()).toEqual([true, false])
    told.now++
    expect(isRead()).toEqual([false, false])
    told.tell([FIVE_HOURS])
    expect(isRead()).toEqual([true, false])
  })

  test('stays as it was told when a session without a plan tells nothing', () => {
    const told = new Told()
    told.tell([FIVE_HOURS])
    told.tell([])
    expect(told.read()).toEqual(['5h 60'])
  })

  test('begins anew once its window has ended', () => {
    const told = new Told()
    told.tell([{ ...FIVE_HOURS, usedPct: 99 }])
    told.now = FIVE_HOURS.resetsAt + MINUTE
    told.tell([{ ...FIVE_HOURS, usedPct: 1, resetsAt: told.now + 5 * HOUR }])
    expect(told.read()).toEqual(['5h 99'])
    expect(told.odd).toEqual([])
  })

  test('is nothing where more than all was used, and what is no percentage is not taken', () => {
    const told = new Told()
    told.tell([{ ...FIVE_HOURS, usedPct: 130 }])
    for (const usedPct of [-1, Number.NaN, Number.POSITIVE_INFINITY]) told.tell([{ ...WEEK, usedPct }])
    told.tell([{ ...WEEK, resetsAt: Number.NaN }])
    expect(told.read()).toEqual(['5h 0'])
  })

  test('is that of the plan a session draws on; of each where nobody knows, and of none where it has no windows', () => {
    const told = new Told()
    told.tell([FIVE_HOURS])
    told.tell([{ ...FIVE_HOURS, usedPct: 10 }], { plan: 'openai' })
    expect(told.read()).toEqual(['5h 60'])
    expect(told.read({ client: 'codex' })).toEqual(['5h 90'])
    expect(told.read({ client: 'codex', provider: 'other' })).toEqual([])
    expect(told.read({ client: 'opencode', provider: 'anthropic' })).toEqual(['5h 60'])
    expect(told.read({ client: 'opencode' })).toEqual(['5h 60', '5h 90'])
    expect(told.read({ client: 'copilot', provider: 'google' })).toEqual([])
    expect(told.read({ client: 'gemini' })).toEqual([])
  })
})

describe('false limits', () => {
  test('that rise within a window change nothing, and an older session’s are no alarm', () => {
    const told = new Told()
    told.tell([{ ...FIVE_HOURS, usedPct: 90 }])
    told.tell([{ ...FIVE_HOURS, usedPct: 2 }])
    told.tell([{ ...FIVE_HOURS, usedPct: 85 }])
    expect(told.read()).toEqual(['5h 10'])
    expect(told.odd).toEqual([])
  })

  test.each([
    ['earlier', -30 * MINUTE],
    ['later', HOUR],
  ])('that end %s than was told are an alarm, once, and are not believed', (_, by) => {
    const told = new Told()
    told.tell([{ ...FIVE_HOURS, usedPct: 90 }])
    const lie = { ...FIVE_HOURS, usedPct: 2, resetsAt: FIVE_HOURS.resetsAt + by }
    told.tell([lie])
    told.tell([lie])
    expect(told.read()).toEqual(['5h 10'])
    expect(told.odd).toEqual(['anthropic 5h: another end than was told, and the one before has not passed'])
    // nor do they keep it fresh
    told.now += 30 * MINUTE + 1
    told.tell([lie])
    expect(told.windows.isRead('5h')).toBe(false)
  })

  test('of less with an earlier end hold until the true end', () => {
    const told = new Told()
    told.tell([{ ...FIVE_HOURS, usedPct: 90 }])
    told.tell([{ ...FIVE_HOURS, usedPct: 95, resetsAt: START + 20 * MINUTE }])
    told.now = START + 21 * MINUTE
    told.tell([{ ...FIVE_HOURS, usedPct: 0, resetsAt: told.now + 5 * HOUR }])
    expect(told.read()).toEqual(['5h 5'])
    expect(told.odd).toHaveLength(2)
  })

  test('that end later than a window is long are an alarm, and cannot hold anybody for ever', () => {
    const told = new Told()
    told.tell([{ window: '5h', usedPct: 100, resetsAt: START + 6 * HOUR }])
    told.tell([{ window: 'week', usedPct: 100, resetsAt: START + 8 * 24 * HOUR }])
    expect(told.read()).toEqual([])
    expect(told.odd).toEqual(['anthropic 5h: ends later than it is long', 'anthropic week: ends later than it is long'])
  })

  test('of the future are as old as now', () => {
    const told = new Told()
    told.tell([FIVE_HOURS], { observedAt: START + HOUR })
    told.now += 30 * MINUTE + 1
    expect(told.windows.isRead('5h')).toBe(false)
  })

  test('are none the better for a restart: how little was left is chained, a line for each whole per cent', () => {
    const told = new Told()
    for (let used = 40; used <= 90; used += 0.25) told.tell([{ ...FIVE_HOURS, usedPct: used }])
    expect(told.kept).toHaveLength(51)
    told.restart()
    told.tell([{ ...FIVE_HOURS, usedPct: 2 }])
    expect(told.read()).toEqual(['5h 10'])
  })
})

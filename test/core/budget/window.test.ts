import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type BudgetWindow,
  dateAt,
  parseWindow,
  resetLabel,
  WINDOW_WORDS,
  windowAt,
  windowText,
} from '#core/budget/window.ts'
import { isZone, wallMs, weekdayOf, zoneNames } from '#core/budget/zone.ts'
import { DAY_MS } from '#core/day.ts'

const HOUR = 3_600_000
const QUARTER = 15 * 60_000
const utc = (text: string) => Date.parse(text)
const at = (spec: BudgetWindow['kind'] | BudgetWindow, zone: string, text: string) => {
  const { start, end } = windowAt(typeof spec === 'string' ? ({ kind: spec } as BudgetWindow) : spec, zone, utc(text))
  return [new Date(start).toISOString(), new Date(end).toISOString()]
}

const CALENDAR = ['daily', 'weekly', 'monthly', 'quarterly'] as const

/** Every calendar window that has a part in [from, to), in order. */
function windowsBetween(kind: (typeof CALENDAR)[number], zone: string, from: number, to: number) {
  const windows: ReturnType<typeof windowAt>[] = []
  for (let moment = from; moment < to; moment = windows.at(-1)!.end) windows.push(windowAt({ kind }, zone, moment))
  return windows
}

const ZONES = zoneNames()
const FROM = utc('2000-01-01T00:00:00Z')
const TO = utc('2036-01-01T00:00:00Z')

/** The moments at which a zone's clock was or will be moved, to the second. */
function transitions(zone: string): number[] {
  const offset = (ms: number) => wallMs(zone, ms) - ms
  const found: number[] = []
  const step = 6 * DAY_MS
  let before = offset(FROM)
  for (let t = FROM; t < TO; t += step) {
    const after = offset(t + step)
    if (after === before) continue
    let [low, high] = [t, t + step]
    while (high - low > 1000) {
      const middle = low + Math.floor((high - low) / 2000) * 1000
      if (offset(middle) === before) low = middle
      else high = middle
    }
    found.push(high)
    before = after
  }
  return found
}

function checkWindow(kind: (typeof CALENDAR)[number], zone: string, ms: number): void {
  const spec = { kind }
  const { start, end, id } = windowAt(spec, zone, ms)
  const next = windowAt(spec, zone, end)
  const wall = wallMs(zone, start)
  const date = new Date(wall)
  const where = `${zone} ${kind} ${new Date(ms).toISOString()}`
  if (!(start <= ms && ms < end)) throw new Error(`${where}: not inside`)
  if (next.start !== end) throw new Error(`${where}: the next window begins elsewhere`)
  const same = windowAt(spec, zone, start)
  const last = windowAt(spec, zone, end - 1)
  if (same.start !== start || same.end !== end || last.start !== start || last.end !== end || last.id !== id)
    throw new Error(`${where}: both ends lie in one window`)
  if (next.id === id) throw new Error(`${where}: two windows with one id`)
  if (start % QUARTER !== 0) throw new Error(`${where}: not a whole number of quarter hours`)
  if (kind !== 'daily' && windowAt({ kind: 'daily' }, zone, start).start !== start)
    throw new Error(`${where}: begins inside a daily window`)
  // Midnight; where the clock jumps over midnight, the first moment of the date.
  if (wall % DAY_MS !== 0 && Math.floor(wallMs(zone, start - 1000) / DAY_MS) >= Math.floor(wall / DAY_MS))
    throw new Error(`${where}: begins inside a day`)
  if (kind === 'weekly' && weekdayOf(Math.floor(wall / DAY_MS)) !== 0) throw new Error(`${where}: not on a Monday`)
  if (kind === 'monthly' && date.getUTCDate() !== 1) throw new Error(`${where}: not on the first`)
  if (kind === 'quarterly' && (date.getUTCDate() !== 1 || date.getUTCMonth() % 3 !== 0))
    throw new Error(`${where}: not on the first of a quarter`)
}

describe('in every zone there is', () => {
  test('windows tile, hold their moment and begin at local midnight, on a Monday, on the first', () => {
    // sampled across the years, at another time of day and another day of the year each time
    for (const zone of ZONES)
      for (const kind of CALENDAR)
        for (
          let ms = FROM + (zone.length * 7 + kind.length) * HOUR;
          ms < TO;
          ms += 397 * DAY_MS + 5 * HOUR + 7 * 60_000
        )
          checkWindow(kind, zone, ms)
  })

  test('and around every moment at which a clock is set', () => {
    let moments = 0
    for (const zone of ZONES)
      for (const moment of transitions(zone))
        for (const by of [-1, HOUR - 1]) {
          moments++
          checkWindow('daily', zone, moment + by)
        }
    expect(moments).toBeGreaterThan(10_000)
  })

  test('a window of any moment is the same whoever asks, and the one before ends where it begins', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...ZONES),
        fc.constantFrom(...CALENDAR),
        fc.integer({ min: FROM, max: TO }),
        (zone, kind, ms) => {
          checkWindow(kind, zone, ms)
          const window = windowAt({ kind }, zone, ms)
          expect(windowAt({ kind }, zone, window.start - 1).end).toBe(window.start)
          expect(windowAt({ kind }, zone, window.end).start).toBe(window.end)
        },
      ),
    )
  })

  test('the days of a month are the month', () => {
    for (const zone of ['America/St_Johns', 'Pacific/Apia', 'Asia/Gaza', 'America/Havana', 'Australia/Lord_Howe']) {
      for (const month of windowsBetween('monthly', zone, utc('2010-01-15T00:00:00Z'), utc('2012-12-15T00:00:00Z'))) {
        const days = windowsBetween('daily', zone, month.start, month.end)
        expect(days[0]!.start).toBe(month.start)
        expect(days.at(-1)!.end).toBe(month.end)
        expect(days.reduce((sum, day) => sum + day.end - day.start, 0)).toBe(month.end - month.start)
      }
    }
  })
})

describe('exact moments', () => {
  test('evening work stays on its own date', () => {
    expect(dateAt('America/Los_Angeles', utc('2026-01-25T04:08:00Z'))).toBe('2026-01-24')
    expect(dateAt('UTC', utc('2026-01-25T04:08:00Z'))).toBe('2026-01-25')
  })

  test('an Amsterdam day has 25, 23 and 24 hours, and its March 743', () => {
    expect(at('daily', 'Europe/Amsterdam', '2026-10-25T12:00:00Z')).toEqual([
      '2026-10-24T22:00:00.000Z',
      '2026-10-25T23:00:00.000Z',
    ])
    const hours = (kind: 'daily' | 'monthly', text: string) => {
      const { start, end } = windowAt({ kind }, 'Europe/Amsterdam', utc(text))
      return (end - start) / HOUR
    }
    expect(hours('daily', '2026-03-29T12:00:00Z')).toBe(23)
    expect(hours('daily', '2026-03-30T12:00:00Z')).toBe(24)
    expect(hours('monthly', '2026-03-15T12:00:00Z')).toBe(743)
  })

  test('a week begins on Monday in its own zone, at both edges', () => {
    const week = ['2026-11-29T23:00:00.000Z', '2026-12-06T23:00:00.000Z']
    expect(at('weekly', 'Europe/Amsterdam', '2026-11-29T23:00:00Z')).toEqual(week)
    expect(at('weekly', 'Europe/Amsterdam', '2026-12-06T22:59:59.999Z')).toEqual(week)
    expect(at('weekly', 'Europe/Amsterdam', '2026-12-06T23:00:00Z')[0]).toBe(week[1])
  })

  test('a month is the calendar month, a rolling 30 days is not', () => {
    expect(at('monthly', 'UTC', '2026-02-28T23:59:59.999Z')).toEqual([
      '2026-02-01T00:00:00.000Z',
      '2026-03-01T00:00:00.000Z',
    ])
    expect(at('monthly', 'UTC', '2026-03-01T00:00:00Z')).toEqual([
      '2026-03-01T00:00:00.000Z',
      '2026-04-01T00:00:00.000Z',
    ])
    const rolling = { kind: 'rolling', days: 30 } as const
    expect(at(rolling, 'UTC', '2026-03-01T00:00:00Z')).toEqual(['2026-01-31T00:00:00.000Z', '2026-03-02T00:00:00.000Z'])
    expect(at(rolling, 'Europe/Amsterdam', '2026-03-29T12:00:00Z')).toEqual([
      '2026-02-27T23:00:00.000Z',
      '2026-03-29T22:00:00.000Z',
    ])
  })

  test('a quarter', () => {
    expect(at('quarterly', 'America/New_York', '2026-11-30T12:00:00Z')).toEqual([
      '2026-10-01T04:00:00.000Z',
      '2027-01-01T05:00:00.000Z',
    ])
  })

  test('windows are aligned, whenever the first use was', () => {
    expect(at('daily', 'UTC', '2026-11-30T15:43:00Z')).toEqual(['2026-11-30T00:00:00.000Z', '2026-12-01T00:00:00.000Z'])
  })

  test('a midnight that does not exist: the day begins when the clock jumps over it', () => {
    expect(at('daily', 'America/Sao_Paulo', '2018-11-04T12:00:00Z')).toEqual([
      '2018-11-04T03:00:00.000Z',
      '2018-11-05T02:00:00.000Z',
    ])
    expect(at('daily', 'America/Santiago', '2024-09-08T12:00:00Z')[0]).toBe('2024-09-08T04:00:00.000Z')
  })

  test('a midnight that comes twice: the first one counts', () => {
    expect(at('daily', 'America/Havana', '2026-11-01T12:00:00Z')).toEqual([
      '2026-11-01T04:00:00.000Z',
      '2026-11-02T05:00:00.000Z',
    ])
    // set back at 00:01 to 23:01 of the day before: what comes again is counted on the day that had begun
    const twice = ['2009-11-01T02:30:00.000Z', '2009-11-02T03:30:00.000Z']
    expect(at('daily', 'America/St_Johns', '2009-11-01T03:00:00Z')).toEqual(twice)
    expect(dateAt('America/St_Johns', utc('2009-11-01T03:00:00Z'))).toBe('2009-11-01')
  })

  test('a date that a country skipped has no window', () => {
    const days = windowsBetween('daily', 'Pacific/Apia', utc('2011-12-29T12:00:00Z'), utc('2012-01-01T00:00:00Z'))
    expect(days.map(day => day.id)).toEqual([
      'daily:2011-12-29@Pacific/Apia',
      'daily:2011-12-31@Pacific/Apia',
      'daily:2012-01-01@Pacific/Apia',
    ])
    expect(days.map(day => (day.end - day.start) / HOUR)).toEqual([24, 24, 24])
  })

  test('zones with half and three quarters of an hour', () => {
    expect(at('daily', 'Asia/Kathmandu', '2026-06-01T12:00:00Z')[0]).toBe('2026-05-31T18:15:00.000Z')
    expect(at('daily', 'Australia/Adelaide', '2026-06-01T12:00:00Z')[0]).toBe('2026-05-31T14:30:00.000Z')
    expect(at('daily', 'Pacific/Chatham', '2026-06-01T12:00:00Z')[0]).toBe('2026-06-01T11:15:00.000Z')
    const lordHowe = windowAt({ kind: 'daily' }, 'Australia/Lord_Howe', utc('2026-04-05T00:00:00Z'))
    expect((lordHowe.end - lordHowe.start) / HOUR).toBe(24.5)
  })
})

describe('words', () => {
  test('the label is made from the moment at which the window ends', () => {
    const label = (kind: 'daily' | 'weekly' | 'monthly' | 'quarterly', zone: string, text: string) =>
      resetLabel({ kind }, zone, windowAt({ kind }, zone, utc(text)))
    expect(label('weekly', 'Europe/Amsterdam', '2026-12-01T12:00:00Z')).toEqual({
      label: 'resets Monday 00:00 Europe/Amsterdam',
      next: '2026-12-07 00:00',
    })
    expect(label('monthly', 'Asia/Kathmandu', '2026-12-05T12:00:00Z')).toEqual({
      label: 'resets on day 1 of the month 00:00 Asia/Kathmandu',
      next: '2027-01-01 00:00',
    })
    // where the next midnight does not exist, the label does not say it
    expect(label('daily', 'America/Sao_Paulo', '2018-11-03T12:00:00Z')).toEqual({
      label: 'resets every day 01:00 America/Sao_Paulo',
      next: '2018-11-04 01:00',
    })
    const rolling = { kind: 'rolling', days: 7 } as const
    expect(resetLabel(rolling, 'UTC', windowAt(rolling, 'UTC', utc('2026-12-01T12:00:00Z'))).label).toBe(
      'moves on every day 00:00 UTC',
    )
  })

  test.each([
    ['daily', ['daily', 'day', '1d']],
    ['weekly', ['weekly', 'week', '1w']],
    ['monthly', ['monthly', 'month', '1mo']],
    ['quarterly', ['quarterly', 'quarter', '1q']],
  ])('every spelling of %s is the same window', (kind, words) => {
    expect(Object.keys(WINDOW_WORDS).filter(word => WINDOW_WORDS[word] === kind)).toEqual(words)
    for (const word of words) expect(parseWindow(word)).toEqual({ kind })
  })

  test('a rolling window names its days; what says neither is refused', () => {
    expect(parseWindow('rolling 30d')).toEqual({ kind: 'rolling', days: 30 })
    expect(parseWindow('rolling 30 days')).toEqual({ kind: 'rolling', days: 30 })
    for (const spec of [{ kind: 'rolling', days: 366 }, { kind: 'weekly' }] as BudgetWindow[])
      expect(parseWindow(windowText(spec))).toEqual(spec)
    for (const text of [
      '30d',
      '1m',
      'rolling',
      'rolling 0d',
      'rolling 367d',
      'rolling 30h',
      'Monthly',
      '',
      'toString',
      '__proto__',
    ])
      expect(parseWindow(text)).toBeUndefined()
  })

  test('an id is stable in its window and another in the next; of a rolling window it lasts as long as the window', () => {
    const id = (spec: BudgetWindow, text: string) => windowAt(spec, 'Europe/Amsterdam', utc(text)).id
    expect(id({ kind: 'monthly' }, '2026-12-05T12:00:00Z')).toBe('monthly:2026-12@Europe/Amsterdam')
    expect(id({ kind: 'quarterly' }, '2026-12-05T12:00:00Z')).toBe('quarterly:2026-Q4@Europe/Amsterdam')
    expect(id({ kind: 'weekly' }, '2026-12-05T12:00:00Z')).toBe('weekly:2026-11-30@Europe/Amsterdam')
    const rolling = { kind: 'rolling', days: 7 } as const
    const ids = Array.from(
      { length: 70 },
      (_, day) => windowAt(rolling, 'UTC', utc('2026-12-01T12:00:00Z') + day * DAY_MS).id,
    )
    expect(new Set(ids).size).toBeLessThanOrEqual(11)
    expect(new Set(ids.slice(0, 14)).size).toBeGreaterThanOrEqual(2)
  })

  test('a zone is known by its own name only', () => {
    for (const zone of ['Europe/Amsterdam', 'UTC', 'Asia/Kolkata', 'America/Argentina/Buenos_Aires', 'Etc/GMT+5'])
      expect(isZone(zone)).toBe(true)
    for (const zone of [
      '',
      'Europe/Amsterdan',
      'europe/amsterdam',
      'asia/kolkata',
      'Utc',
      'EUROPE/AMSTERDAM',
      '+02:00',
      'local',
      'Mars/Olympus',
      'UTC+2',
      '../etc',
    ])
      expect(isZone(zone)).toBe(false)
    expect(ZONES.filter(zone => !isZone(zone))).toEqual([])
  })
})

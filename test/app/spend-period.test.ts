import { describe, expect, it } from 'vitest'
import { askedPath, csvFields, drillInto, readSpendAsked, reportInput } from '#app/(console)/[org]/spend/asked.ts'
import {
  monthOf,
  periodBefore,
  periodQuery,
  periodWords,
  readPeriodAsked,
  startsOf,
  stepFor,
} from '#app/(console)/[org]/spend/period.ts'
import { daysOfMonth } from '#core/day.ts'

const TODAY = '2026-11-30'

describe('a period in an address', () => {
  it('is this month where the address says nothing or nonsense', () => {
    const november = { from: '2026-11-01', to: '2026-12-01' }
    for (const asked of [
      {},
      { month: '2026-13' },
      { month: 'x' },
      { from: '2026-02-30', to: '2026-03-01' },
      { from: TODAY },
    ])
      expect(readPeriodAsked(asked, TODAY), JSON.stringify(asked)).toEqual(november)
  })

  it('holds both of its ends, in whichever order they were given', () => {
    expect(readPeriodAsked({ from: '2026-10-28', to: '2026-11-03' }, TODAY)).toEqual({
      from: '2026-10-28',
      to: '2026-11-04',
    })
    expect(readPeriodAsked({ from: '2026-11-03', to: '2026-10-28' }, TODAY)).toEqual({
      from: '2026-10-28',
      to: '2026-11-04',
    })
  })

  it('comes back from its own address', () => {
    for (const period of [daysOfMonth('2026-11'), daysOfMonth('2024-02'), { from: '2026-01-31', to: '2026-02-02' }])
      expect(readPeriodAsked(periodQuery(period, TODAY), TODAY)).toEqual(period)
  })

  it('is a month only when it is exactly one', () => {
    expect(monthOf({ from: '2024-02-01', to: '2024-03-01' })).toBe('2024-02')
    expect(monthOf({ from: '2024-02-01', to: '2024-02-29' })).toBeUndefined()
    expect(periodWords({ from: '2024-02-01', to: '2024-03-01' })).toBe('February 2024')
    expect(periodWords({ from: '2024-02-01', to: '2024-02-02' })).toBe('1 Feb 2024')
  })
})

describe('steps of a chart', () => {
  it('hold every day of the period once, days without spend too', () => {
    const starts = startsOf(daysOfMonth('2028-02'), 'day')
    expect(starts).toHaveLength(29)
    expect([starts[0], starts.at(-1)]).toEqual(['2028-02-01', '2028-02-29'])
  })

  it('begin weeks on the Monday at or before the first day', () => {
    expect(startsOf({ from: '2026-11-01', to: '2026-11-10' }, 'week')).toEqual([
      '2026-10-26',
      '2026-11-02',
      '2026-11-09',
    ])
    expect(startsOf({ from: '2026-11-02', to: '2026-11-09' }, 'week')).toEqual(['2026-11-02'])
  })

  it('stay few however long the period is', () => {
    for (const days of [1, 2, 3, 60, 92, 93, 400, 401, 3660]) {
      const to = new Date(Date.parse('2016-01-01') + days * 86_400_000).toISOString().slice(0, 10)
      const period = { from: '2016-01-01', to }
      expect(startsOf(period, stepFor(period)).length, `${days} days`).toBeLessThanOrEqual(125)
    }
  })
})

describe('the period before', () => {
  it('is the month before a month, and as many days before any other', () => {
    const now = Date.parse('2027-05-01T00:00:00Z')
    expect(periodBefore(daysOfMonth('2026-03'), 'UTC', now)).toEqual({
      from: '2026-02-01',
      to: '2026-03-01',
      soFar: false,
    })
    expect(periodBefore({ from: '2026-03-05', to: '2026-03-08' }, 'UTC', now)).toEqual({
      from: '2026-03-02',
      to: '2026-03-05',
      soFar: false,
    })
  })

  it('of one that is under way is as long as what has passed of it, on the zone’s clock', () => {
    const now = Date.parse('2026-11-30T17:52:00Z')
    expect(periodBefore(daysOfMonth('2026-11'), 'Europe/Amsterdam', now)).toEqual({
      from: '2026-10-01',
      to: '2026-10-30T18:45',
      soFar: true,
    })
  })

  it('never reaches into the period itself', () => {
    const now = Date.parse('2026-03-31T12:00:00Z')
    expect(periodBefore(daysOfMonth('2026-03'), 'UTC', now).to).toBe('2026-03-01T00:00')
  })
})

describe('what an address asks for', () => {
  const asked = readSpendAsked(
    {
      month: '2026-10',
      by: 'model',
      basis: 'billed',
      filter: ['tenant:acme', 'tag:team:', 'tenant:other', ':x', 'day:2026-10-01'],
    },
    TODAY,
  )

  it('keeps one filter a key, and none of what is no key', () => {
    expect(asked.filters).toEqual([
      { dimension: 'tag:tenant', value: 'acme' },
      { dimension: 'tag:team', value: null },
    ])
    expect(reportInput(asked).filter).toEqual({ tenant: ['acme'], 'tag:team': [null] })
  })

  it('comes back from its own address, and the file asks for the same', () => {
    const path = askedPath('/acme/spend', asked, TODAY)
    const query = new URL(path, 'http://x').searchParams
    const fields = Object.fromEntries([...query.keys()].map(name => [name, query.getAll(name)]))
    expect(readSpendAsked(fields, TODAY)).toEqual(asked)
    expect(csvFields(asked)).toEqual([
      ['from', '2026-10-01'],
      ['to', '2026-11-01'],
      ['by', 'model'],
      ['basis', 'billed'],
      ['filter', 'tenant:acme'],
      ['filter', 'tag:team:'],
    ])
  })

  it('leads down by a key that is not settled yet, the value’s own filter added', () => {
    const down = drillInto(asked, 'claude-x')
    expect(down.by).toBe('tag:project')
    expect(down.filters.at(-1)).toEqual({ dimension: 'model', value: 'claude-x' })
    expect(drillInto(down, 'web').by).toBe('machine')
  })
})

/** Sums in metrics: Claude Code's `token.usage` and the `client.token.usage` of the conventions for generative AI. */
import { hash } from 'node:crypto'
import { NO_TOKENS, type PriceAxis } from '#core/pricing.ts'
import {
  type Attributes,
  attributesOf,
  isObject,
  millisOf,
  NotACount,
  type OtlpEntry,
  textOf,
  wholeNumber,
} from './entries.ts'
import type { ObservedSum } from './observed.ts'
import { ofClaude, whoOf } from './who.ts'

export type ReadSums = { sums: ObservedSum[]; rejected: number }

/** By metric: the attribute that says what is counted, and which axis each of its values is. */
const METRICS: Readonly<
  Record<string, { type: string; axes: Readonly<Record<string, PriceAxis>>; isClaude: boolean }>
> = {
  'claude_code.token.usage': {
    type: 'type',
    // how long a cache write is kept is not told: the provider's default
    axes: { input: 'input', output: 'output', cacheRead: 'cacheRead', cacheCreation: 'cacheWrite5m' },
    isClaude: true,
  },
  // what of the input was cached is not told either, so that all of it counts as read anew
  'gen_ai.client.token.usage': {
    type: 'gen_ai.token.type',
    axes: { input: 'input', output: 'output' },
    isClaude: false,
  },
}

const DELTA = 1
const CUMULATIVE = 2

export function readSums(entries: readonly OtlpEntry[]): ReadSums {
  const read: ReadSums = { sums: [], rejected: 0 }
  const byPoint = new Map<string, ObservedSum>()
  for (const { entry, resource } of entries) {
    const metric = METRICS[String(entry.name)]
    const data = [entry.sum, entry.histogram, entry.exponentialHistogram].find(isObject)
    if (!metric || !data) continue
    const temporality = Number(data.aggregationTemporality)
    for (const point of Array.isArray(data.dataPoints) ? data.dataPoints.filter(isObject) : []) {
      try {
        takePoint(byPoint, String(entry.name), point, attributesOf(point.attributes, resource), temporality)
      } catch (error) {
        if (!(error instanceof NotACount)) throw error
        read.rejected++
      }
    }
  }
  read.sums.push(...byPoint.values())
  return read
}

/** Points of one moment that differ only by what they count are one sum. */
function takePoint(
  byPoint: Map<string, ObservedSum>,
  name: string,
  point: Record<string, unknown>,
  attributes: Attributes,
  temporality: number,
): void {
  const { type, axes, isClaude } = METRICS[name]!
  const axis = axes[textOf(attributes, type) ?? '']
  // e.g. a type of a later version, which may be a part of one that is counted
  if (axis === undefined) return
  if (temporality !== DELTA && temporality !== CUMULATIVE) throw new NotACount()
  const tokens = wholeNumber(point.asInt ?? point.asDouble ?? point.sum)
  const time = nanosOf(point.timeUnixNano)
  const atMs = millisOf(point.timeUnixNano)
  if (time === undefined || atMs === undefined) throw new NotACount()
  const start = nanosOf(point.startTimeUnixNano) ?? '0'
  const rest = [...attributes].filter(([key]) => key !== type).sort()
  const series = hash('sha256', JSON.stringify([name, rest]), 'base64url').slice(0, 22)
  const key = `${series} ${start} ${time}`
  const sum = byPoint.get(key) ?? {
    kind: 'sum' as const,
    ...whoOf(attributes),
    ...(isClaude ? ofClaude(attributes) : {}),
    atMs,
    tokens: { ...NO_TOKENS },
    series,
    running: temporality === CUMULATIVE,
    start,
    time,
  }
  sum.tokens[axis] += tokens
  byPoint.set(key, sum)
}

const nanosOf = (value: unknown): string | undefined => {
  const text = typeof value === 'number' ? value.toFixed(0) : value
  return typeof text === 'string' && /^\d{1,20}$/.test(text) ? text : undefined
}

import type { CrossedFigure } from '#core/approval/request.ts'
import { FIGURES, type FigureReading } from '#core/figure.ts'
import { cutDecimal, formatMicros } from '#core/money.ts'
import type { Crossing } from './compile.ts'

const WIRE_UNITS = { usd: 'usd', pct: 'pct', tier: 'tier', name: 'match' } as const

/**
 * A reading as it may leave the machine: numbers and names from fixed lists. What a workflow or an agent is called
 * stays at home (`matched`), and so does a budget of the developer's own (undefined). A cut number is sent rounded
 * toward holding: up, except what is left of a plan.
 */
export function wireFigure(reading: FigureReading): CrossedFigure | undefined {
  const { name, value, observedAt } = reading
  const { unit, worst } = FIGURES[name]
  const qualifier = wireQualifier(reading)
  if (qualifier === undefined) return undefined
  const up = reading.cut && worst === 'max' ? 1 : 0
  const secret = name === 'workflow_id' || name === 'agent_id'
  return {
    name,
    ...(qualifier === '' ? {} : { qualifier }),
    value: secret ? 'matched' : typeof value === 'number' ? formatMicros(value + up) : value,
    unit: name === 'destination' ? 'destination' : WIRE_UNITS[unit],
    observedAt: new Date(observedAt).toISOString(),
  }
}

/** Empty for none, undefined for one that may not be sent. A budget goes by the name the organisation gave it. */
function wireQualifier({ name, qualifier }: FigureReading): string | undefined {
  if (qualifier === undefined) return ''
  if (name !== 'budget_used_pct') return qualifier
  return qualifier.startsWith('org:') ? qualifier.slice('org:'.length) : undefined
}

/** The figures that crossed, of all the matches of one request: each once, unread ones by name. */
export function crossedFigures(matches: readonly { crossed: readonly Crossing[] }[]): CrossedFigure[] {
  const seen = new Map<string, CrossedFigure>()
  for (const { crossed } of matches) {
    for (const { figure, qualifier, reading } of crossed) {
      const wire = reading === undefined ? unreadFigure(figure, qualifier) : wireFigure(reading)
      if (wire !== undefined) seen.set(`${wire.name} ${wire.qualifier ?? ''}`, wire)
    }
  }
  return [...seen.values()]
}

function unreadFigure(name: CrossedFigure['name'], qualifier: string | undefined): CrossedFigure {
  const unit = name === 'destination' ? 'destination' : WIRE_UNITS[FIGURES[name].unit]
  return { name, ...(qualifier === undefined ? {} : { qualifier }), value: 'unread', unit }
}

/** A reported figure as a reading again, taken at `atMs`; undefined for one that was unread or is no number. */
export function readingFromWire(figure: CrossedFigure, atMs: number): FigureReading | undefined {
  const { name, qualifier, value } = figure
  if (value === 'unread' || value === 'matched') return undefined
  const { unit } = FIGURES[name]
  const number = unit === 'usd' || unit === 'pct' ? cutDecimal(value)?.floor : value
  if (number === undefined) return undefined
  const own = name === 'budget_used_pct' && qualifier !== undefined ? `org:${qualifier}` : qualifier
  return {
    name,
    ...(own === undefined ? {} : { qualifier: own }),
    value: number,
    unit,
    observedAt: atMs,
    source: 'event',
  }
}

/**
 * What of OTLP's three requests is read, by field number, as opentelemetry-proto 1.x has them. Field numbers are never used
 * again there, so that what a later version adds is skipped.
 */
import type { Field, Message } from './protobuf.ts'

const message = (fields: Readonly<Record<number, Field>>): Message => ({ fields })
const list = (name: string, kind: Message): Field => ({ name, kind, many: true })

const AnyValue = message({
  1: { name: 'stringValue', kind: 'string' },
  2: { name: 'boolValue', kind: 'bool' },
  3: { name: 'intValue', kind: 'signed' },
  4: { name: 'doubleValue', kind: 'double' },
})
const KeyValue = message({ 1: { name: 'key', kind: 'string' }, 2: { name: 'value', kind: AnyValue } })
const Resource = message({ 1: list('attributes', KeyValue) })
const Scope = message({ 1: { name: 'name', kind: 'string' } })

const LogRecord = message({
  1: { name: 'timeUnixNano', kind: 'fixed64' },
  5: { name: 'body', kind: AnyValue },
  6: list('attributes', KeyValue),
  9: { name: 'traceId', kind: 'bytes' },
  10: { name: 'spanId', kind: 'bytes' },
  11: { name: 'observedTimeUnixNano', kind: 'fixed64' },
  12: { name: 'eventName', kind: 'string' },
})
const Span = message({
  1: { name: 'traceId', kind: 'bytes' },
  2: { name: 'spanId', kind: 'bytes' },
  5: { name: 'name', kind: 'string' },
  7: { name: 'startTimeUnixNano', kind: 'fixed64' },
  8: { name: 'endTimeUnixNano', kind: 'fixed64' },
  9: list('attributes', KeyValue),
  11: list(
    'events',
    message({
      1: { name: 'timeUnixNano', kind: 'fixed64' },
      2: { name: 'name', kind: 'string' },
      3: list('attributes', KeyValue),
    }),
  ),
  15: { name: 'status', kind: message({ 3: { name: 'code', kind: 'int' } }) },
})
const NumberPoint = message({
  2: { name: 'startTimeUnixNano', kind: 'fixed64' },
  3: { name: 'timeUnixNano', kind: 'fixed64' },
  4: { name: 'asDouble', kind: 'double' },
  6: { name: 'asInt', kind: 'sfixed64' },
  7: list('attributes', KeyValue),
})
const HistogramPoint = message({
  2: { name: 'startTimeUnixNano', kind: 'fixed64' },
  3: { name: 'timeUnixNano', kind: 'fixed64' },
  5: { name: 'sum', kind: 'double' },
  9: list('attributes', KeyValue),
})
const ExponentialPoint = message({
  1: list('attributes', KeyValue),
  2: { name: 'startTimeUnixNano', kind: 'fixed64' },
  3: { name: 'timeUnixNano', kind: 'fixed64' },
  5: { name: 'sum', kind: 'double' },
})
const points = (of: Message) =>
  message({ 1: list('dataPoints', of), 2: { name: 'aggregationTemporality', kind: 'int' } })
const Metric = message({
  1: { name: 'name', kind: 'string' },
  7: { name: 'sum', kind: points(NumberPoint) },
  9: { name: 'histogram', kind: points(HistogramPoint) },
  10: { name: 'exponentialHistogram', kind: points(ExponentialPoint) },
})

/** Every request: parts of one resource, each with parts of one scope, each with its entries. */
const request = (resources: string, scopes: string, entries: string, of: Message): Message =>
  message({
    1: list(
      resources,
      message({
        1: { name: 'resource', kind: Resource },
        2: list(scopes, message({ 1: { name: 'scope', kind: Scope }, 2: list(entries, of) })),
      }),
    ),
  })

/** By the last part of the path that a request is sent to. */
export const SIGNALS = {
  logs: { members: ['resourceLogs', 'scopeLogs', 'logRecords'], rejected: 'rejectedLogRecords' },
  traces: { members: ['resourceSpans', 'scopeSpans', 'spans'], rejected: 'rejectedSpans' },
  metrics: { members: ['resourceMetrics', 'scopeMetrics', 'metrics'], rejected: 'rejectedDataPoints' },
} as const
export type Signal = keyof typeof SIGNALS

export const REQUESTS: Readonly<Record<Signal, Message>> = {
  logs: request(...SIGNALS.logs.members, LogRecord),
  traces: request(...SIGNALS.traces.members, Span),
  metrics: request(...SIGNALS.metrics.members, Metric),
}

/** A machine whose daemon is told of usage by OpenTelemetry. */
import { otlpToken } from '#agent/crypto.ts'
import type { TelemetryState } from '#agent/otlp/telemetry.ts'
import { type LedgerCall, ledgerDays, readLedgerDay } from '#agent/usage/ledger.ts'
import { Machine, type Reply } from '../daemon/world.ts'

type Value = string | number | boolean
export const attributes = (values: Record<string, Value | undefined>) =>
  Object.entries(values).flatMap(([key, value]) =>
    value === undefined
      ? []
      : [
          {
            key,
            value:
              typeof value === 'string'
                ? { stringValue: value }
                : typeof value === 'boolean'
                  ? { boolValue: value }
                  : { intValue: String(value) },
          },
        ],
  )
const nanos = (ms: number) => `${ms}000000`

export class ToldMachine extends Machine {
  /** One batch as an exporter sends it. */
  tell(
    signal: 'logs' | 'traces' | 'metrics',
    body: unknown,
    { headers = {} }: { headers?: Record<string, string | undefined> } = {},
  ): Promise<Reply> {
    return this.ask('POST', `/v1/${signal}`, {
      body: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body),
      headers: { authorization: `Bearer ${otlpToken(this.daemon.runtime.secret)}`, ...headers },
    })
  }

  logs(records: object[], resource: Record<string, Value | undefined> = { 'service.name': 'claude-code' }) {
    const scope = { name: 'com.anthropic.claude_code.events' }
    return {
      resourceLogs: [{ resource: { attributes: attributes(resource) }, scopeLogs: [{ scope, logRecords: records }] }],
    }
  }

  /** One of Claude Code's events, as recorded; input 100, read 20, written 30 for five minutes and 7 for an hour, output 50. */
  request(values: Record<string, Value | undefined> = {}, at = this.now()): object {
    return {
      timeUnixNano: nanos(at),
      body: { stringValue: 'claude_code.api_request' },
      attributes: attributes({
        'session.id': 'far-away',
        model: 'claude-opus-4-6',
        input_tokens: 100,
        output_tokens: 50,
        cache_read_tokens: 20,
        cache_creation_tokens: 37,
        cache_creation_5m_tokens: 30,
        cache_creation_1h_tokens: 7,
        cost_usd: 0,
        request_id: 'req_1',
        ...values,
      }),
    }
  }

  spans(
    list: { values: Record<string, Value | undefined>; id?: string; code?: number; events?: object[] }[],
    resource: Record<string, Value | undefined> = { 'service.name': 'my-agent' },
  ) {
    const spans = list.map(({ values, id = '0000000000000001', code = 1, events }) => ({
      traceId: '0123456789abcdef0123456789abcdef',
      spanId: id,
      name: 'chat',
      startTimeUnixNano: nanos(this.now() - 1000),
      endTimeUnixNano: nanos(this.now()),
      attributes: attributes(values),
      status: { code },
      ...(events ? { events } : {}),
    }))
    return {
      resourceSpans: [
        { resource: { attributes: attributes(resource) }, scopeSpans: [{ scope: { name: 'x' }, spans }] },
      ],
    }
  }

  /** A metric's points: what each type of token has come to. */
  sums(
    name: 'claude_code.token.usage' | 'gen_ai.client.token.usage',
    tokens: Record<string, number>,
    {
      values = {},
      resource = { 'service.name': 'claude-code' },
      running = false,
      start = this.now() - 60_000,
      at = this.now(),
    }: {
      values?: Record<string, Value | undefined>
      resource?: Record<string, Value | undefined>
      running?: boolean
      start?: number
      at?: number
    } = {},
  ) {
    const isClaude = name.startsWith('claude')
    const type = isClaude ? 'type' : 'gen_ai.token.type'
    const model = isClaude ? { model: 'claude-opus-4-6' } : { 'gen_ai.response.model': 'claude-opus-4-6' }
    const dataPoints = Object.entries(tokens).map(([kind, count]) => ({
      attributes: attributes({ ...model, ...values, [type]: kind }),
      startTimeUnixNano: nanos(start),
      timeUnixNano: nanos(at),
      ...(isClaude ? { asDouble: count } : { count: '3', sum: count }),
    }))
    const data = { aggregationTemporality: running ? 2 : 1, dataPoints }
    const metric = { name, ...(isClaude ? { sum: { ...data, isMonotonic: true } } : { histogram: data }) }
    return {
      resourceMetrics: [
        { resource: { attributes: attributes(resource) }, scopeMetrics: [{ scope: { name: 'x' }, metrics: [metric] }] },
      ],
    }
  }

  /** What the ledger has once everything has waited long enough. */
  async counted(): Promise<LedgerCall[]> {
    this.offset += 121_000
    await this.daemon.tick()
    const calls: LedgerCall[] = []
    for (const day of ledgerDays(this.home)) calls.push(...(await readLedgerDay(this.home, day)))
    return calls
  }

  async told(): Promise<TelemetryState> {
    return (await this.ask('GET', '/api/usage', { token: 'api' })).json.telemetry
  }
}

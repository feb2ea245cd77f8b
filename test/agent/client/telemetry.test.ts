/** The real Claude Code telling the daemon of its calls by OpenTelemetry: once, whether its records are in reach or not. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { otlpToken } from '#agent/crypto.ts'
import { type Bench, startBench } from '../../clients/bench.ts'
import { bashScenario, runClaudeOn } from '../../clients/claude.ts'
import { ToldMachine } from '../otlp/world.ts'

// a run takes a second or two alone and far longer beside a build
vi.setConfig({ testTimeout: 120_000 })

let machine: ToldMachine
let bench: Bench | undefined
let elsewhere: string
beforeEach(async () => {
  machine = new ToldMachine()
  await machine.start()
  elsewhere = mkdtempSync(join(tmpdir(), 'elsewhere-'))
})
afterEach(async () => {
  await bench?.stop()
  rmSync(elsewhere, { recursive: true, force: true })
})

const USAGE = { input: 100, output: 50, cache_read: 20, cache_5m: 30, cache_1h: 7 }
const CALLS = [
  { input: 100, cacheRead: 20, cacheWrite5m: 30, cacheWrite1h: 7, output: 50, webSearches: 0 },
  { input: 12, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 64, webSearches: 0 },
]

async function runTelling(home: string, protocol: string, more: Record<string, string> = {}): Promise<void> {
  mkdirSync(home, { recursive: true })
  bench = await startBench({ home })
  const run = await runClaudeOn(bench, {
    scenario: bashScenario(USAGE),
    env: {
      CLAUDE_CODE_ENABLE_TELEMETRY: '1',
      OTEL_LOGS_EXPORTER: 'otlp',
      OTEL_METRICS_EXPORTER: 'otlp',
      OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${machine.daemon.port}`,
      OTEL_EXPORTER_OTLP_HEADERS: `Authorization=Bearer%20${otlpToken(machine.daemon.runtime.secret)}`,
      OTEL_RESOURCE_ATTRIBUTES: 'holdpoint.tenant=acme',
      ...more,
    },
  })
  expect(run.result?.terminal_reason).toBe('completed')
}

describe.each(['http/json', 'http/protobuf'])('over %s', protocol => {
  test('with its records in reach each call counts once, from those', async () => {
    await runTelling(join(machine.folder, 'dev'), protocol)
    const calls = await machine.counted()
    expect(calls.map(({ tokens }) => tokens)).toEqual(CALLS)
    expect(calls[0]!.place.directory).toBe(bench!.project)
    const told = await machine.told()
    expect(told).toMatchObject({ calls: 0, sums: 0, rejected: 0 })
    // two calls and their sums, which a slow run tells of more than once
    expect(told.own).toBeGreaterThanOrEqual(3)
  })

  test('with its records out of reach each call counts once, from what it tells', async () => {
    await runTelling(elsewhere, protocol)
    const calls = await machine.counted()
    expect(calls.map(({ tokens }) => tokens)).toEqual(CALLS)
    expect(calls.map(({ place }) => place.tags)).toEqual([{ tenant: 'acme' }, { tenant: 'acme' }])
    const told = await machine.told()
    expect(told).toMatchObject({ calls: 2, sums: 0, own: 0, rejected: 0 })
    expect(told.otherwise).toBeGreaterThanOrEqual(1)
  })
})

test('with its sums alone it is counted by those', async () => {
  await runTelling(elsewhere, 'http/protobuf', { OTEL_LOGS_EXPORTER: 'none', OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip' })
  expect((await machine.counted()).map(({ tokens }) => tokens)).toEqual([
    { input: 112, cacheRead: 20, cacheWrite5m: 37, cacheWrite1h: 0, output: 114, webSearches: 0 },
  ])
})

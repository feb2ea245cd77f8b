/** The real Claude Code when the stream of a response breaks off: what it had used is counted, and marked. */
import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { otlpToken } from '#agent/crypto.ts'
import { ledgerDays, readLedgerDay } from '#agent/usage/ledger.ts'
import { type Bench, startBench } from '../../clients/bench.ts'
import { runClaudeOn } from '../../clients/claude.ts'
import { Machine } from '../daemon/world.ts'

/** In front of the model server: the first response ends before an event of that name. */
async function cutBefore(bench: Bench, event: string): Promise<string> {
  let responses = 0
  const server: Server = createServer((incoming, outgoing) => {
    const to = new URL(incoming.url!, bench.stub.url)
    const headers = { ...incoming.headers, host: to.host }
    const asked = request(to, { method: incoming.method, headers }, answer => {
      let text = ''
      answer.setEncoding('utf8').on('data', part => {
        text += part
      })
      answer.on('end', () => {
        outgoing.writeHead(answer.statusCode!, answer.headers)
        if (++responses > 1) outgoing.end(text)
        else
          outgoing.write(text.slice(0, text.indexOf(`event: ${event}`)), () => setTimeout(() => outgoing.destroy(), 50))
      })
    })
    incoming.pipe(asked)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('a response that breaks off is counted as far as it came, marked, and the next one whole', async () => {
  const machine = new Machine()
  await machine.start()
  const bench = await startBench({ home: join(machine.folder, 'dev') })
  onTestFinished(() => bench.stop())
  const run = await runClaudeOn(bench, {
    scenario: [
      { text: 'one', usage: { input: 5, output: 9 } },
      { text: 'two', usage: { input: 12, output: 64 } },
    ],
    env: { ANTHROPIC_BASE_URL: await cutBefore(bench, 'message_delta') },
  })
  expect(run.exit).toBe(0)
  await machine.daemon.tick()
  const calls = (await Promise.all(ledgerDays(machine.home).map(day => readLedgerDay(machine.home, day)))).flat()
  expect(calls.map(({ tokens, partial = false }) => [tokens.input, tokens.output, partial])).toEqual([
    [5, 1, true],
    [12, 64, false],
  ])
  expect((await machine.ask('GET', '/api/usage', { token: 'api' })).json.brokeOff).toBe(1)
})

test('an attempt that breaks off before its first whole block is counted by the client’s sums, where it tells these', async () => {
  const machine = new Machine()
  await machine.start()
  const bench = await startBench({ home: join(machine.folder, 'dev') })
  onTestFinished(() => bench.stop())
  const run = await runClaudeOn(bench, {
    scenario: [{ text: 'one', usage: { input: 5, output: 9, cache_read: 1000 } }],
    env: {
      ANTHROPIC_BASE_URL: await cutBefore(bench, 'content_block_start'),
      CLAUDE_CODE_ENABLE_TELEMETRY: '1',
      OTEL_LOGS_EXPORTER: 'otlp',
      OTEL_METRICS_EXPORTER: 'otlp',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${machine.daemon.port}`,
      OTEL_EXPORTER_OTLP_HEADERS: `Authorization=Bearer%20${otlpToken(machine.daemon.runtime.secret)}`,
    },
  })
  expect(run.exit).toBe(0)
  const counted = async () => {
    await machine.daemon.tick()
    const calls = (await Promise.all(ledgerDays(machine.home).map(day => readLedgerDay(machine.home, day)))).flat()
    return calls.map(({ tokens, partial = false }) => [tokens.input, tokens.cacheRead, tokens.output, partial])
  }
  machine.offset += 121_000
  expect(await counted()).toEqual([[5, 1000, 9, false]])
  machine.offset += 11 * 60_000
  expect(await counted()).toEqual([
    [5, 1000, 9, false],
    [5, 1000, 1, true],
  ])
})

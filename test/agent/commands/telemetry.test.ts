import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { otlpToken } from '#agent/crypto.ts'
import { CommandMachine } from './machine.ts'

let machine: CommandMachine
beforeEach(async () => {
  machine = new CommandMachine()
  await machine.install()
})
afterEach(() => machine.remove())
const door = () => JSON.parse(readFileSync(machine.home.daemon, 'utf8')) as { port: number }
const token = () => otlpToken(readFileSync(machine.home.secret))

it('says on a terminal how a client sends its usage here, and keeps the token from whatever is no terminal', async () => {
  expect(await machine.run(['telemetry'])).toMatchObject({ code: 4 })
  await machine.run(['daemon', 'start'])
  const { screen } = await machine.type(['telemetry'])
  expect(screen).toContain(`export OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:${door().port}`)
  expect(screen).toContain(`export OTEL_EXPORTER_OTLP_HEADERS=Authorization=Bearer%20${token()}`)
  const piped = await machine.run(['telemetry'])
  expect(piped.stdout).toContain('Bearer%20TOKEN')
  expect(piped.stderr).toContain('The token is printed on a terminal only.')
  const { json, stdout } = await machine.run(['telemetry', '--json'])
  expect(json).toEqual({
    endpoint: `http://127.0.0.1:${door().port}`,
    protocols: ['http/protobuf', 'http/json'],
    told: null,
  })
  expect(piped.stdout + stdout).not.toContain(token())
})

it('tells what came of what was told, a word for each thing that was left out', async () => {
  await machine.run(['daemon', 'start'])
  const attribute = (key: string, value: string | number) => ({
    key,
    value: typeof value === 'string' ? { stringValue: value } : { intValue: value },
  })
  const span = (id: string, operation: string, model: string, tokens: number) => ({
    traceId: id.repeat(32),
    spanId: id.repeat(16),
    endTimeUnixNano: `${Date.now()}000000`,
    attributes: [
      attribute('gen_ai.operation.name', operation),
      attribute('gen_ai.response.model', model),
      attribute('gen_ai.usage.output_tokens', tokens),
    ],
  })
  const spans = [span('1', 'chat', 'nobody-knows-it', 5), span('2', 'invoke_agent', 'x', 5), span('3', 'chat', 'x', -1)]
  const resource = { attributes: [attribute('service.name', 'mine')] }
  const send = () =>
    machine
      .run(['telemetry', '--json'])
      .then(({ json }) =>
        fetchLike(json.endpoint, JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ spans }] }] })),
      )
  expect(await send()).toBe(200)
  await machine.run(['history', '--import'])
  expect(await send()).toBe(200)
  await machine.run(['history', '--import'])
  const told = (await machine.run(['telemetry'])).stdout
  expect(told).toContain('1 call counted; last heard')
  expect(told).toContain('1 call told again, or known from elsewhere, counted once')
  expect(told).toContain('2 sums of agents and workflows left out: the calls within them count')
  expect(told).toContain('2 entries with impossible token counts refused')
  const status = (await machine.run(['daemon', 'status'])).stdout
  expect(status).toContain('Telemetry: 1 call counted')
  expect(status).toContain('rate=fallback: nobody-knows-it has no price of its own; it counts at most')
  expect((await machine.run(['history'])).stdout).toContain('rate=fallback')
})

/** Without what fetch tells of itself as browsers do. */
function fetchLike(endpoint: string, body: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token()}`, 'content-type': 'application/json' }
    const asked = request(`${endpoint}/v1/traces`, { method: 'POST', headers }, answer => {
      answer.resume()
      resolve(answer.statusCode!)
    })
    asked.on('error', reject)
    asked.end(body)
  })
}

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { root } from '#server/boot/environment.mjs'
import { exactly } from '../../clients/bench.ts'
import { type Case, interleave, median, type Row } from '../bench.ts'
import { Connector } from '../connector.ts'
import { type Later, withUndo } from '../undo.ts'

const STREAMS = 64
const ROUNDS = 7
const FIRST_ROUNDS = 300
const AT_LEAST = 0.8
const BODY = Buffer.from(
  JSON.stringify({ model: 'claude-opus-4-6', stream: true, messages: [{ role: 'user', content: 'x'.repeat(40_000) }] }),
)

/** Event streams through `holdpoint proxy` as it is installed, beside a bare pass-through and no proxy at all, in turns. */
export const row: Row = {
  name: 'proxy',
  run: () =>
    withUndo(async later => {
      const model = await startProgram(later, 'test/bench/bare-model.cjs')
      const bare = await startProgram(later, 'test/bench/bare-proxy.cjs', `http://127.0.0.1:${model}`)
      const machine = await Connector.install(later)
      writeFileSync(
        join(machine.home, 'config.yaml'),
        `routing:\n  upstreams: { anthropic: "http://127.0.0.1:${model}" }\n`,
      )
      const ours = await startProxy(later, machine)
      const places = {
        ours: { port: ours, path: '/anthropic/v1/messages' },
        bare: { port: bare, path: '/v1/messages' },
        direct: { port: model, path: '/v1/messages' },
      }
      return [...(await throughput(later, places)), ...(await firstByte(later, places))]
    }),
}

type Place = { port: number; path: string }
type Places = Record<'ours' | 'bare' | 'direct', Place>

async function throughput(later: Later, { ours, bare }: Places): Promise<Case[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: STREAMS })
  later(() => agent.destroy())
  const rates = { ours: [] as number[], bare: [] as number[] }
  for (let round = 0; round <= ROUNDS; round++) {
    for (const name of round % 2 ? (['ours', 'bare'] as const) : (['bare', 'ours'] as const)) {
      const place = name === 'ours' ? ours : bare
      const started = performance.now()
      const sizes = await Promise.all(Array.from({ length: STREAMS }, () => takeAll(agent, place)))
      const rate = sizes.reduce((a, b) => a + b, 0) / 1e6 / ((performance.now() - started) / 1000)
      if (round > 0) rates[name].push(rate) // the first round warms up
    }
  }
  const ratio = median(rates.ours.map((rate, i) => rates.bare[i]! / rate))
  return [
    {
      row: 'proxy',
      case: `${STREAMS} event streams at once`,
      value: median(rates.ours),
      unit: 'MB/s',
      against: 'a bare pass-through in Node',
      againstValue: median(rates.bare),
      ratio,
      must: `${AT_LEAST} of it`,
      ok: 1 / ratio >= AT_LEAST,
    },
  ]
}

async function firstByte(later: Later, places: Places): Promise<Case[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  later(() => agent.destroy())
  const time = (place: Place) => async () => {
    const started = performance.now()
    return (await takeFirst(agent, { ...place, path: `${place.path}?small` })) - started
  }
  const took = await interleave(
    { ours: time(places.ours), bare: time(places.bare), direct: time(places.direct) },
    FIRST_ROUNDS,
  )
  const beside = (against: string, value: number): Case => ({
    row: 'proxy',
    case: 'time to the first byte of an answer',
    value: took.ours,
    unit: 'ms',
    against,
    againstValue: value,
    ratio: took.ours / value,
    must: 'for information',
    ok: true,
  })
  return [beside('a direct connection', took.direct), beside('a bare pass-through in Node', took.bare)]
}

function ask(agent: Agent, { port, path }: Place, onAnswer: (answer: import('node:http').IncomingMessage) => void) {
  return request(
    {
      host: '127.0.0.1',
      port,
      path,
      method: 'POST',
      agent,
      headers: { 'content-type': 'application/json', 'content-length': BODY.length },
    },
    onAnswer,
  )
}

/** Reads an answer to its end; how many bytes it had. */
function takeAll(agent: Agent, place: Place): Promise<number> {
  return new Promise((resolve, reject) => {
    const asked = ask(agent, place, answer => {
      let bytes = 0
      answer.on('data', part => {
        bytes += part.length
      })
      answer.on('end', () =>
        answer.statusCode === 200 && bytes > 100_000
          ? resolve(bytes)
          : reject(new Error(`answered ${answer.statusCode} with ${bytes} bytes`)),
      )
      answer.on('error', reject)
    })
    asked.on('error', reject)
    asked.end(BODY)
  })
}

/** When the first byte was there; the rest is read as well. */
function takeFirst(agent: Agent, place: Place): Promise<number> {
  return new Promise((resolve, reject) => {
    const asked = ask(agent, place, answer => {
      let first = 0
      answer.on('data', () => {
        first ||= performance.now()
      })
      answer.on('end', () =>
        answer.statusCode === 200 && first > 0 ? resolve(first) : reject(new Error(`answered ${answer.statusCode}`)),
      )
      answer.on('error', reject)
    })
    asked.on('error', reject)
    asked.end(BODY)
  })
}

async function startProgram(later: Later, program: string, ...args: string[]): Promise<number> {
  const child = spawn(process.execPath, [join(root, program), ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  later(() => child.kill())
  const [port] = (await once(child.stdout, 'data')) as [Buffer]
  return Number(port.toString().trim())
}

/** `holdpoint proxy` as a process, on a free port. */
async function startProxy(later: Later, machine: Connector): Promise<number> {
  const program = join(machine.home, 'bin/holdpoint.cjs')
  const child = spawn(process.execPath, [program, 'proxy', '--port', '0', '--json'], {
    env: exactly(machine.env),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  later(() => child.kill())
  const [said] = (await once(child.stdout, 'data')) as [Buffer]
  return Number(new URL((JSON.parse(said.toString()) as { base: string }).base).port)
}

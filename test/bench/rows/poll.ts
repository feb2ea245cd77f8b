import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { FRESH_HEADER } from '#core/protocol.ts'
import { type Case, median, type Row } from '../bench.ts'
import { Connector } from '../connector.ts'
import { startControlPlane } from '../control-plane.ts'
import { type Load, requestsPerSecond } from '../load.ts'
import { RULES } from '../rules.ts'
import { withUndo } from '../undo.ts'

const ROUND_MS = 300
const ROUNDS = 25
const WARM_UP = 5
const CONNECTIONS = 32
const AT_LEAST = 0.8

/** The poll of a machine that has the newest rules, beside a route handler of the same build that answers a constant. */
export const row: Row = {
  name: 'poll',
  run: () =>
    withUndo(async later => {
      const plane = await startControlPlane(later)
      const { etag: none } = await plane.owner.ask<{ etag: string }>('boundary.current', {})
      await plane.owner.change('boundary.publish', { text: RULES, note: 'measured', etag: none })
      const machine = await Connector.install(later, '--join', await plane.joinUrl())
      const { token } = JSON.parse(readFileSync(join(machine.home, 'team.json'), 'utf8')) as { token: string }
      const authorization = `Bearer ${token}`
      const first = await fetch(`${plane.origin}/api/v1/rules`, { headers: { authorization } })
      const etag = first.headers.get('etag')
      if (first.status !== 200 || !etag) throw new Error(`the first poll was answered ${first.status}`)
      const port = Number(new URL(plane.origin).port)
      const poll: Load = {
        port,
        method: 'GET',
        path: '/api/v1/rules',
        headers: { authorization, 'if-none-match': etag, 'user-agent': 'holdpoint' },
        status: 304,
        header: FRESH_HEADER.toLowerCase(),
      }
      // HEAD of a form's door: a constant, whoever asks; like a 304 it has no body
      const bare: Load = { port, method: 'HEAD', path: '/auth/email', headers: poll.headers, status: 204 }
      const rates = { poll: [] as number[], bare: [] as number[] }
      for (let round = 0; round < WARM_UP + ROUNDS; round++) {
        for (const name of round % 2 ? (['poll', 'bare'] as const) : (['bare', 'poll'] as const)) {
          const rate = await requestsPerSecond(name === 'poll' ? poll : bare, CONNECTIONS, ROUND_MS)
          if (round >= WARM_UP) rates[name].push(rate)
        }
      }
      // of each pair and not of the medians: what else the machine does changes slower than a round
      const ratio = median(rates.poll.map((rate, i) => rates.bare[i]! / rate))
      const measured: Case = {
        row: 'poll',
        case: `unchanged rules, ${CONNECTIONS} connections`,
        value: median(rates.poll),
        unit: 'requests/s',
        against: 'a route handler of the same build that answers a constant',
        againstValue: median(rates.bare),
        ratio,
        must: `${AT_LEAST} of its requests a second`,
        ok: 1 / ratio >= AT_LEAST,
      }
      return [measured]
    }),
}

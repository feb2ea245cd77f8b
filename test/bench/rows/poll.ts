import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { FRESH_HEADER } from '#core/protocol.ts'
import { type Case, interleave, type Row } from '../bench.ts'
import { Connector } from '../connector.ts'
import { startControlPlane } from '../control-plane.ts'
import { type Load, requestsPerSecond } from '../load.ts'
import { RULES } from '../rules.ts'
import { withUndo } from '../undo.ts'

const ROUND_MS = 300
const ROUNDS = 15
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
      const bare: Load = { port, method: 'HEAD', path: '/auth/email', status: 204 }
      const cases: Case[] = []
      for (const connections of [8, 64]) {
        const rate = await interleave(
          {
            poll: () => requestsPerSecond(poll, connections, ROUND_MS),
            bare: () => requestsPerSecond(bare, connections, ROUND_MS),
          },
          ROUNDS,
        )
        cases.push({
          row: 'poll',
          case: `unchanged, ${connections} connections`,
          value: rate.poll,
          unit: 'requests/s',
          against: 'a route handler of the same build that answers a constant',
          againstValue: rate.bare,
          ratio: rate.bare / rate.poll,
          must: `${AT_LEAST} of its requests a second`,
          ok: rate.poll / rate.bare >= AT_LEAST,
        })
      }
      return cases
    }),
}

/** The daemon's door for the proxy: questions before a request goes on, and what answers told of plans. */
import * as z from 'zod/mini'
import { type Reply, type Route, refuseRequest } from '#agent/daemon/door.ts'
import type { Runtime } from '#agent/daemon/runtime.ts'
import { SESSION } from '#agent/otlp/observed.ts'
import { PROVIDERS } from '#core/pricing.ts'
import { MODEL_ID, USAGE_CLIENTS } from '#core/usage/bucket.ts'
import { ProxyJudge } from './judge.ts'

const id = z.optional(z.string().check(z.regex(SESSION)))
const model = z.string().check(z.regex(MODEL_ID))
const AskedShape = z.strictObject({
  client: z.enum(USAGE_CLIENTS),
  session: id,
  agent: id,
  route: z.optional(z.strictObject({ provider: z.enum(PROVIDERS), from: model, to: model })),
  stop: z.optional(z.literal(true)),
  waitMs: z.int().check(z.gte(1), z.lte(60_000)),
})
const PlanShape = z.strictObject({
  plan: z.enum(['anthropic', 'openai']),
  observedAt: z.int(),
  windows: z
    .array(z.strictObject({ window: z.enum(['5h', 'week']), usedPct: z.number(), resetsAt: z.int() }))
    .check(z.maxLength(4)),
})

const BAD = refuseRequest(400, 'BAD_INPUT', 'This takes other fields.')

/** `POST /proxy/judge` and `POST /proxy/plan`. */
export function proxyRoutes(runtime: Runtime, fileSoon: () => void): Route[] {
  const judge = new ProxyJudge(runtime)
  return [
    {
      method: 'POST',
      path: /^\/proxy\/judge$/,
      token: 'hook',
      handle: ({ body, arrivedMs }): Reply => {
        const asked = AskedShape.safeParse(parsed(body))
        if (!asked.success) return BAD
        const { verdict, file } = judge.judge(asked.data, arrivedMs)
        if (file) fileSoon()
        return { status: 200, body: verdict }
      },
    },
    {
      method: 'POST',
      path: /^\/proxy\/plan$/,
      token: 'hook',
      handle: ({ body }): Reply => {
        const told = PlanShape.safeParse(parsed(body))
        if (!told.success) return BAD
        runtime.planWindows.note(told.data, 'daemon')
        return { status: 200, body: {} }
      },
    },
  ]
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
}

import { proof } from '#agent/crypto.ts'
import { shownFigures } from '#agent/figures/shown.ts'
import { glanceOf } from '#agent/glance/glance.ts'
import { CLAIM_REFUSAL_WORDS } from '#agent/guard/claimant.ts'
import type { Usage } from '#agent/usage/usage.ts'
import { isClient } from '#core/client.ts'
import { judgeAsker } from './claim.ts'
import { type Incoming, type Reply, type Route, readFields, refuseRequest } from './door.ts'
import { DENIAL_WAYS, type DenialWay } from './entry.ts'
import { takeBack } from './requests.ts'
import { takeResults } from './results.ts'
import { type Runtime, record } from './runtime.ts'
import { explain, statusOf, waitingOf } from './status.ts'
import { whyOf } from './why.ts'

const HANDLE = '(bnd-[0-9a-f]{12})'

/** The commands that end the daemon. */
const STOPPING = ['stop', 'restart', 'uninstall']

/** What the API's acts need of the running daemon. */
export type Acts = {
  startedAt: string
  sync(): Promise<void>
  report(): Promise<void>
  stop(): void
  /** Takes in the spool, so that what the command has just left is seen. */
  takeSpool(): void
  preview(): object | undefined
  usage: Usage
}

/** The local API behind the daemon’s loopback door: it shows, denies, and fetches. Nothing here approves, and a stop is a person's. */
export function apiRoutes(runtime: Runtime, acts: Acts): Route[] {
  const get = (path: string, handle: (incoming: Incoming, match: RegExpExecArray) => Reply): Route => ({
    method: 'GET',
    path: new RegExp(`^/api/${path}$`),
    token: 'api',
    handle,
  })
  const act = (path: string, handle: (match: RegExpExecArray) => Reply | Promise<Reply>): Route => ({
    method: 'POST',
    path: new RegExp(`^/api/${path}$`),
    token: 'api',
    handle: ({ body }, match) =>
      readFields(body, []) ? handle(match) : refuseRequest(400, 'BAD_INPUT', 'This takes no fields.'),
  })
  return [
    { method: 'GET', path: /^\/prove$/, token: 'none', handle: ({ query }) => prove(runtime, query.get('n') ?? '') },
    get('status', () => ({ status: 200, body: { ...statusOf(runtime, acts.startedAt), usage: acts.usage.status() } })),
    get('waiting', () => ({ status: 200, body: waitingOf(runtime) })),
    get('figures', () => ({ status: 200, body: shownFigures(runtime) })),
    get('glance', ({ query }) => {
      const client = query.get('client') ?? undefined
      if ([...query.keys()].some(key => key !== 'client') || (client !== undefined && !isClient(client)))
        return refuseRequest(400, 'BAD_INPUT', 'This takes the name of a client, and nothing else.')
      return { status: 200, body: glanceOf(runtime, acts.usage.shownBudgets().budgets, client) }
    }),
    get('why', ({ query }) => {
      const found = whyOf(runtime, query.get('rule') ?? '', query.get('session') ?? undefined)
      return found ? { status: 200, body: found } : refuseRequest(404, 'NOT_FOUND', 'No rule in force has this name.')
    }),
    get('preview', () => ({ status: 200, body: acts.preview() ?? null })),
    get('budgets', () => ({ status: 200, body: acts.usage.shownBudgets() })),
    get('usage', () => ({ status: 200, body: acts.usage.status() })),
    // as text: the bytes themselves, which another spelling of the same JSON would not be
    act('usage/preview', async () => ({ status: 200, text: (await acts.usage.preview()) ?? '' })),
    act('usage/collect', () => {
      void acts.usage.collect()
      return { status: 202, body: acts.usage.status().reading }
    }),
    get(`decisions/${HANDLE}`, (_, match) => {
      acts.takeSpool()
      readPrompt(runtime, match[1]!)
      const found = explain(runtime, match[1]!)
      return found ? { status: 200, body: found } : refuseRequest(404, 'NOT_FOUND', 'No decision has this handle.')
    }),
    {
      method: 'POST',
      path: new RegExp(`^/api/decisions/${HANDLE}/deny$`),
      token: 'api',
      handle: ({ body }, match) => {
        const how = DENIAL_WAYS.find(way => way === (readFields(body, ['how'])?.how ?? 'api'))
        return how && readFields(body, ['how'])
          ? deny(runtime, match[1]!, how, acts)
          : refuseRequest(400, 'BAD_INPUT', `This takes how: ${DENIAL_WAYS.join(', ')}.`)
      },
    },
    act('sync', async () => {
      try {
        try {
          await acts.sync()
          await acts.report()
        } catch (error) {
          // rules that are refused keep no usage back
          if ((error as { code?: string }).code !== 'unreachable') await acts.usage.sync().catch(() => {})
          throw error
        }
        await acts.usage.sync()
        return { status: 200, body: { ok: true } }
      } catch (error) {
        return refuseRequest(502, (error as { code?: string }).code ?? 'UNAVAILABLE', (error as Error).message)
      }
    }),
    {
      method: 'POST',
      path: /^\/api\/stop$/,
      token: 'api',
      handle: ({ body }) => {
        const asked = readFields(body, ['pid', 'tty', 'at'])
        return asked ? stop(runtime, asked, acts) : refuseRequest(400, 'BAD_INPUT', 'This takes pid, tty and at.')
      },
    },
  ]
}

function prove({ secret }: Runtime, n: string): Reply {
  if (!/^[0-9a-f]{16,128}$/.test(n)) return refuseRequest(400, 'BAD_INPUT', 'n must be 16 to 128 hexadecimal digits.')
  return { status: 200, text: proof(secret, n) }
}

/**
 * Ends the daemon for whoever runs `holdpoint daemon stop`, and for nobody else who has the token: see judgeClaim. A signal from
 * a program of the same user ends it all the same.
 */
function stop(runtime: Runtime, asked: Record<string, unknown>, acts: Acts): Reply {
  const judged = judgeAsker(runtime, asked, ([group, command = '']) => group === 'daemon' && STOPPING.includes(command))
  if (judged.ok) {
    acts.stop()
    return { status: 200, body: { ok: true } }
  }
  const { code, chain } = judged
  record(runtime, { kind: 'guard_refused', act: 'daemon stop', why: code, ...(chain ? { chain } : {}) })
  return refuseRequest(
    403,
    'GUARD_REFUSED',
    `The daemon looked at who asks and goes on running: ${CLAIM_REFUSAL_WORDS[code]}. That is recorded.`,
  )
}

/** Looks for what was answered at the client's own prompt: a no there calls no hook, and the next walk may be a minute away. */
function readPrompt(runtime: Runtime, handle: string): void {
  const asked = runtime.state.decisions.get(handle)?.entry
  if (asked?.toolUse === undefined || runtime.state.prompts.get(asked.toolUse) !== handle) return
  const session = runtime.sessions.get(asked.client, asked.session)
  if (session) takeResults(runtime, session, runtime.sessions.observe(session))
}

/** A no from this machine. For an organisation's request that is a withdrawal: no record says that a person denied it. */
export function deny(runtime: Runtime, handle: string, how: DenialWay, acts: Pick<Acts, 'sync'>): Reply {
  const { state } = runtime
  const decision = state.decisions.get(handle)?.entry
  const target = decision?.question ?? handle
  const asked = state.requests.get(target)
  const question = state.questions.get(target)
  if (asked) {
    if (asked.state !== 'pending') return refuseRequest(409, 'NOT_PENDING', `The request is ${asked.state} already.`)
    takeBack(runtime, target, 'denied_here', how)
    void acts.sync().catch(() => {})
    return { status: 200, body: { handle: target, state: 'withdrawn' } }
  }
  if (!question) return refuseRequest(404, 'NOT_FOUND', 'Nothing waits under this handle.')
  if (question.state === 'denied') return refuseRequest(409, 'NOT_PENDING', 'It has been denied already.')
  record(runtime, { kind: 'denied_here', handle: target, how }, { durable: true })
  return { status: 200, body: { handle: target, state: 'denied' } }
}

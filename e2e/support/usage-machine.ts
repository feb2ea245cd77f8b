import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import type { BrowserContext } from '@playwright/test'
import { change } from './api.ts'

const ADDRESS = `http://localhost:${process.env.E2E_PORT}`

/**
 * UTC days before (or, below nought, after) the one of `now`. To be fixed once in a file: a story that midnight comes over goes
 * on with the days it has sent.
 */
export const daysBefore = (now: Date) => (days: number) =>
  new Date(now.getTime() - days * 86_400_000).toISOString().slice(0, 10)

/** Some calls of one quarter hour. `dollars` are of the model below; of any other model they count at the dearest price. */
export type Usage = {
  /** UTC day. */
  day: string
  quarter: number
  dollars: number
  tags?: Record<string, string>
  model?: string
  covered?: 'plan' | 'metered' | 'unknown'
  calls?: number
}
export type UsageMachine = {
  id: string
  send(usage: readonly Usage[]): Promise<void>
  /** Reports that a boundary refused a call, because so much of a budget was used. */
  refused(rule: string, budget: string, usedPct: string): Promise<void>
}

const MODEL = 'claude-opus-4-6'
/** List price of the model, in dollars a million output tokens. */
const PER_MILLION = 25

/**
 * A machine that has joined and sends usage as a connector does, through the same doors and signed by its own key, without the
 * connector: so that days that are past can be sent.
 */
export async function usageMachine(caller: BrowserContext, org: string, label: string): Promise<UsageMachine> {
  const { url } = await change<{ url: string }>(caller, 'machine.joinLine', { org })
  const token = /hpj_[A-Za-z0-9_-]+/.exec(url)![0]
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const { x } = publicKey.export({ format: 'jwk' })
  const key = { kty: 'OKP', crv: 'Ed25519', x: x! }
  const kid = hash(canonical(key))
  const jws = (typ: string, payload: unknown) => signed(privateKey, kid, typ, payload)
  const joined = await post<{ machine: string; token: string; org: { id: string } }>('join', undefined, {
    token,
    key,
    label,
    platform: 'linux',
    connector: '0.1.0',
    proof: jws('holdpoint-join+jws', { v: 1, token: hash(token) }),
    pinned: true,
  })
  let seq = 0
  let reports = 0
  return {
    id: joined.machine,
    async refused(rule, budget, usedPct) {
      const at = new Date().toISOString()
      const report = {
        v: 1,
        org: joined.org.id,
        machine: joined.machine,
        seq: ++reports,
        at,
        connector: '0.1.0',
        rules: { version: 0, rootSeq: 0, rootDigest: 'A'.repeat(43), unsupported: [], unknownSections: 0 },
        hooks: [],
        unguarded: [],
        outcomes: [
          {
            handle: 'bnd-0123456789ab',
            rule,
            client: 'claude-code',
            action: 'spend',
            sessionRef: hash('a session'),
            stage: 'enforce',
            outcome: 'deny',
            did: 'refused',
            at,
            figures: [{ name: 'budget_used_pct', qualifier: budget, value: usedPct, unit: 'pct' }],
          },
        ],
        counts: [],
        grants: [],
        alarms: [],
      }
      await post('reports', joined.token, { report: jws('holdpoint-report+jws', report) })
    },
    async send(usage) {
      const days = [...new Set(usage.map(({ day }) => day))].sort().map(day => ({
        day,
        computedAt: new Date().toISOString(),
        buckets: usage.filter(one => one.day === day).map(bucketOf),
      }))
      const upload = {
        v: 1,
        org: joined.org.id,
        machine: joined.machine,
        seq: ++seq,
        at: new Date().toISOString(),
        days,
      }
      await post('usage', joined.token, { usage: jws('holdpoint-usage+jws', upload) })
    },
  }
}

function bucketOf({ quarter, dollars, tags = {}, model = MODEL, covered = 'metered', calls = 1 }: Usage) {
  const output = Math.round((dollars / PER_MILLION) * 1e6)
  const isKnown = model === MODEL
  return {
    quarter,
    client: 'claude-code',
    provider: 'anthropic',
    model,
    long: false,
    tags,
    covered,
    rate: isKnown ? 'card' : 'fallback',
    calls,
    partial: 0,
    tokens: { input: 0, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, output, webSearches: 0 },
    cost: String((output * PER_MILLION) / 1e6),
  }
}

async function post<T>(door: string, token: string | undefined, body: unknown): Promise<T> {
  const answer = await fetch(`${ADDRESS}/api/v1/${door}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}) },
    body: JSON.stringify(body),
  })
  if (!answer.ok) throw new Error(`${door} answered ${answer.status}: ${await answer.text()}`)
  return (await answer.json()) as T
}

const hash = (text: string): string => createHash('sha256').update(text).digest('base64url')
const base64url = (text: string): string => Buffer.from(text).toString('base64url')

function signed(privateKey: KeyObject, kid: string, typ: string, payload: unknown): string {
  const input = `${base64url(canonical({ alg: 'Ed25519', kid, typ }))}.${base64url(canonical(payload))}`
  return `${input}.${sign(null, Buffer.from(input), privateKey).toString('base64url')}`
}

/** JSON with sorted keys: what both sides hash. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, part) =>
    part && typeof part === 'object' && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  )

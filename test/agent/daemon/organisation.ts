import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { crypto, makeKey, type PrivateKey, publicPart, random, signJws } from '#agent/crypto.ts'
import type { Answer } from '#core/approval/answer.ts'
import {
  type ApprovalRequest,
  ApprovalRequest as RequestShape,
  requestDigest,
  subjectKey,
} from '#core/approval/request.ts'
import type { ApprovalState } from '#core/approval/state.ts'
import { parseBoundaries } from '#core/boundary/parse.ts'
import { ruleToJson } from '#core/boundary/rule.ts'
import type { FleetBudget } from '#core/budget/fleet.ts'
import { base64url, fromUtf8 } from '#core/bytes.ts'
import { makeId } from '#core/id.ts'
import { parseJws, payloadDigest } from '#core/jws.ts'
import { KEY_ROLES, type KeyRole, thumbprint } from '#core/key.ts'
import { FRESH_HEADER, Report } from '#core/protocol.ts'
import type { Root, RootEnvelope } from '#core/root.ts'
import { openUpload, type UsageDay, type UsageUpload } from '#core/usage/upload.ts'

type Keys = { owner: PrivateKey; nextOwner: PrivateKey } & Record<KeyRole, PrivateKey>

export const RULE = (require: string, over = 20, extra = '') =>
  `boundaries:\n  - name: session-spend\n    action: continue\n    when: { session_cost_usd: ">= ${over}" }\n    require: ${require}\n    stage: enforce\n${extra}`

const kid = (key: PrivateKey) => thumbprint(publicPart(key), crypto.sha256)

/**
 * A control plane at the network's edge: real keys, real signatures, the connector's API over real http. It holds no rule of
 * the product beyond the protocol; a test says what it answers.
 */
export class Organisation {
  readonly id = makeId('organisation', random(12))
  readonly machine = makeId('machine', random(12))
  readonly member = makeId('member', random(12))
  readonly machineKey = makeKey()
  readonly token = `hpm_${'a'.repeat(52)}`
  keys: Keys = {
    owner: makeKey(),
    nextOwner: makeKey(),
    ...(Object.fromEntries(KEY_ROLES.map(role => [role, makeKey()])) as Record<KeyRole, PrivateKey>),
  }
  roots: RootEnvelope[] = []
  root!: Root
  rootDigest = ''
  version = 0
  ruleset: string | undefined
  rulesetDigest = ''
  answers: { seq: number; jws: string }[] = []
  states: { seq: number; handle: string; state: ApprovalState; at: string }[] = []
  seq = 0
  requests: ApprovalRequest[] = []
  withdrawn: { handle: string; body: unknown }[] = []
  reports: Report[] = []
  /** Uploads that were taken, and what stands for each day. */
  uploads: { upload: UsageUpload; text: string }[] = []
  usage = new Map<string, { seq: number; sent: UsageDay }>()
  readonly usageSeen = new Map<number, { payload: string; answer: unknown }>()
  /** What GET budgets tells; nothing is there without it. */
  budgets: (() => { cut?: string; budgets: FleetBudget[]; [member: string]: unknown }) | undefined
  refuseUsage: { status: number; code: string }[] = []
  recorded: { seq: number; head: string } | undefined
  calls: string[] = []
  down = false
  revoked = false
  eligible = 2
  approvals = 1
  /** It says that its answers end where the machine stands, although they end sooner. */
  hidesEnd = false
  /** A denial that stands: what every request is answered with. */
  standing: string | undefined
  /** Answers to `POST approvals` before the ordinary one. */
  refuseFiling: { status: number; code: string; why?: string }[] = []
  clock = () => Date.now()
  freshAt: (() => number) | undefined
  /** Overrides for one answer, for tests of what a bad control plane says. */
  serve: { rules?: () => { status: number; body?: string; fresh?: string | undefined }; roots?: () => RootEnvelope[] } =
    {}
  private server: Server | undefined
  private readonly waiting = new Set<() => void>()
  private sockets = new Set<import('node:net').Socket>()
  origin = ''

  constructor() {
    this.addRoot({})
  }

  /** Signs the next root; `change` may replace keys or revoke some. */
  addRoot({ revoke = [], signWith }: { revoke?: string[]; signWith?: PrivateKey[] }): RootEnvelope {
    const seq = this.roots.length + 1
    const root: Root = {
      v: 1,
      org: this.id,
      seq,
      ...(seq > 1 ? { prev: this.rootDigest } : {}),
      custody: 'server',
      threshold: 1,
      owners: [publicPart(this.keys.owner)],
      roles: Object.fromEntries(KEY_ROLES.map(role => [role, [publicPart(this.keys[role])]])) as Root['roles'],
      approvers: [],
      revoked: [
        ...(seq > 1 ? this.root.revoked : []),
        ...revoke.map(kid => ({ kid, since: new Date(this.clock()).toISOString() })),
      ],
      nextKeyThumbprint: kid(this.keys.nextOwner),
    }
    const envelope = { signed: (signWith ?? [this.keys.owner]).map(key => signJws('holdpoint-root+jws', key, root)) }
    this.roots.push(envelope)
    this.root = root
    this.rootDigest = payloadDigest(parseJws(envelope.signed[0]!).payload, crypto.sha256)
    return envelope
  }

  /** A new key for a role: root seq + 1, and the same rule set signed anew when it was the rules' key. */
  rotate(role: KeyRole): void {
    const old = kid(this.keys[role])
    this.keys = { ...this.keys, [role]: makeKey() }
    this.addRoot({ revoke: [old] })
    if (role === 'ruleset' && this.ruleset)
      this.ruleset = signJws(
        'holdpoint-ruleset+jws',
        this.keys.ruleset,
        JSON.parse(fromUtf8(parseJws(this.ruleset).payload)),
      )
  }

  makeRuleSet(
    yaml: string,
    {
      version = this.version + 1,
      key = this.keys.ruleset,
      ...more
    }: { version?: number; key?: PrivateKey; [member: string]: unknown } = {},
  ): string {
    const { rules, errors } = parseBoundaries(yaml, { scope: 'organisation' })
    if (errors.length > 0) throw new Error(errors[0]!.message)
    return signJws('holdpoint-ruleset+jws', key, {
      v: 1,
      org: this.id,
      version,
      ...(version > 1 ? { prevDigest: 'p' } : {}),
      rootSeq: this.root.seq,
      minReader: 1,
      requires: [],
      issuedAt: new Date(this.clock()).toISOString(),
      maxAge: 24 * 3600,
      whenBroken: 'pass',
      selfAnswer: 'never',
      boundaries: rules.map(ruleToJson),
      budgets: [],
      rateCard: [],
      attribution: [],
      contracts: [],
      ...more,
    })
  }

  publish(yaml: string, more: Record<string, unknown> = {}): void {
    this.ruleset = this.makeRuleSet(yaml, more)
    this.version++
    this.rulesetDigest = payloadDigest(parseJws(this.ruleset).payload, crypto.sha256)
    this.wake()
  }

  fresh(more: Record<string, unknown> = {}): string {
    const at = (this.freshAt ?? this.clock)()
    return signJws('holdpoint-fresh+jws', this.keys.fresh, {
      v: 1,
      org: this.id,
      version: this.version,
      ...(this.version > 0 ? { digest: this.rulesetDigest } : {}),
      rootSeq: this.root.seq,
      at: new Date(at).toISOString(),
      exp: new Date(at + 15 * 60_000).toISOString(),
      checkpoint: { size: 0, root: 'x' },
      ...more,
    })
  }

  /** Signs an answer to a request that was filed; `more` overrides any member. */
  answer(request: ApprovalRequest, more: Partial<Answer> = {}, key = this.keys.answer): Answer {
    const now = this.clock()
    const answer: Answer = {
      v: 1,
      answerId: base64url(random(16)),
      org: this.id,
      machine: this.machine,
      rootSeq: this.root.seq,
      handle: request.handle,
      request: requestDigest(request, crypto.sha256),
      decision: 'approve',
      scope: 'step',
      until: [],
      notBefore: new Date(now).toISOString(),
      notAfter: new Date(Date.parse(request.createdAt) + 24 * 3600_000).toISOString(),
      approvers: [
        {
          memberId: makeId('member', random(12)),
          name: 'Lea',
          role: 'lead',
          method: 'oidc',
          how: 'web',
          authnAt: new Date(now).toISOString(),
        },
      ],
      policy: { role: 'lead', approvals: 1, signed: false, self: 'never' },
      seq: this.seq + 1,
      ...more,
    }
    this.seq = Math.max(this.seq, answer.seq)
    this.answers.push({ seq: answer.seq, jws: signJws('holdpoint-answer+jws', key, answer) })
    this.wake()
    return answer
  }

  setState(handle: string, state: ApprovalState): void {
    this.states.push({ seq: ++this.seq, handle, state, at: new Date(this.clock()).toISOString() })
    this.wake()
  }

  private wake(): void {
    for (const done of this.waiting) done()
  }

  async listen(port = 0): Promise<void> {
    this.server = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', chunk => chunks.push(chunk as Buffer))
      request.on('end', () => {
        const unfit = JSON.stringify({ error: { code: 'BAD_INPUT', message: 'not of the form that this takes' } })
        void this.route(request, Buffer.concat(chunks).toString('utf8'))
          .catch(() => ({ status: 400, body: unfit, headers: {} }))
          .then(({ status, body, headers }) => {
            response.writeHead(status, { 'content-type': 'application/json', ...headers })
            response.end(status === 304 || status === 204 ? undefined : body)
          })
      })
    })
    this.server.on('connection', socket => {
      if (this.down) socket.destroy()
      this.sockets.add(socket)
      socket.on('close', () => this.sockets.delete(socket))
    })
    await new Promise<void>(resolve => this.server!.listen(port, '127.0.0.1', resolve))
    this.origin = `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`
  }

  goDown(): void {
    this.down = true
    for (const socket of this.sockets) socket.destroy()
  }

  async close(): Promise<void> {
    this.wake()
    for (const socket of this.sockets) socket.destroy()
    await new Promise<void>(resolve => (this.server ? this.server.close(() => resolve()) : resolve()))
  }

  /** What a control plane does with an upload, as far as a machine can see it; a test may answer in its place. */
  private takeUsage(
    jws: string,
    json: (value: unknown, status?: number) => { status: number; body: string },
    refuse: (status: number, code: string, why?: string) => { status: number; body: string },
  ) {
    const upload = openUpload(jws, [publicPart(this.machineKey)], crypto)
    const payload = jws.split('.')[1]!
    const known = this.usageSeen.get(upload.seq)
    if (known?.payload === payload) return json(known.answer)
    if (known) return refuse(409, 'CONFLICT', 'sequence_used')
    const refusal = this.refuseUsage.shift()
    if (refusal) return refuse(refusal.status, refusal.code)
    const days = upload.days.map(sent => {
      const before = this.usage.get(sent.day)
      const isAhead = Date.parse(sent.computedAt) > this.clock() + 10 * 60_000
      const state = (before?.seq ?? 0) > upload.seq ? 'stale' : isAhead ? 'quarantined' : 'taken'
      if (state === 'taken') this.usage.set(sent.day, { seq: upload.seq, sent })
      return { day: sent.day, state, cost: '0' }
    })
    const answer = { seq: upload.seq, days }
    this.usageSeen.set(upload.seq, { payload, answer })
    this.uploads.push({ upload, text: Buffer.from(payload, 'base64url').toString('utf8') })
    return json(answer)
  }

  private async route(
    request: IncomingMessage,
    body: string,
  ): Promise<{ status: number; body?: string; headers?: Record<string, string> }> {
    const url = new URL(request.url!, 'http://x')
    const path = url.pathname.replace('/api/v1/', '')
    this.calls.push(`${request.method} ${path}`)
    const json = (value: unknown, status = 200) => ({ status, body: JSON.stringify(value) })
    const refuse = (status: number, code: string, why?: string) =>
      json({ error: { code, message: code, ...(why ? { details: { why } } : {}) } }, status)
    if (request.headers.authorization !== `Bearer ${this.token}` || this.revoked) return refuse(401, 'NOT_SIGNED_IN')
    if (path === 'roots')
      return json({ roots: this.serve.roots?.() ?? this.roots.slice(Number(url.searchParams.get('after'))) })
    if (path === 'rules') {
      if (this.serve.rules) {
        const { status, body: text, fresh } = this.serve.rules()
        return {
          status,
          ...(text === undefined ? {} : { body: text }),
          headers: fresh === undefined ? {} : { [FRESH_HEADER]: fresh },
        }
      }
      const headers = { [FRESH_HEADER]: this.fresh() }
      if (!this.ruleset) return { status: 204, headers }
      if (request.headers['if-none-match'] === this.etag) return { status: 304, headers }
      return { status: 200, body: this.ruleset, headers: { ...headers, etag: this.etag } }
    }
    if (path === 'wait') {
      const news = () => ({
        rules: this.ruleset !== undefined && url.searchParams.get('rules') !== this.etag,
        answers: this.seq !== Number(url.searchParams.get('answers')),
      })
      const now = news()
      if (now.rules || now.answers) return json(now)
      await new Promise<void>(resolve => {
        const done = () => {
          this.waiting.delete(done)
          resolve()
        }
        this.waiting.add(done)
        request.socket.once('close', done)
        setTimeout(done, 2000).unref()
      })
      return json(news())
    }
    if (path === 'answers') {
      const after = Number(url.searchParams.get('after'))
      return json({
        answers: this.answers.filter(a => a.seq > after),
        states: this.states.filter(s => s.seq > after),
        seq: this.hidesEnd ? Math.max(this.seq, after) : this.seq,
      })
    }
    if (path === 'approvals') {
      const refusal = this.refuseFiling.shift()
      if (refusal) return refuse(refusal.status, refusal.code, refusal.why)
      const filed = RequestShape.parse(
        JSON.parse(fromUtf8(parseJws((JSON.parse(body) as { request: string }).request).payload)),
      )
      const open = this.requests.find(
        r =>
          subjectKey(r) === subjectKey(filed) &&
          !this.withdrawn.some(w => w.handle === r.handle) &&
          !this.isSettled(r.handle),
      )
      if (!open && !this.standing) this.requests.push(filed)
      return json({
        handle: this.standing ?? (open ?? filed).handle,
        state: this.standing ? 'denied' : 'pending',
        role: 'lead',
        approvals: this.approvals,
        eligible: this.eligible,
        url: `${this.origin}/acme/approvals/${filed.handle}`,
      })
    }
    if (path === 'budgets' && this.budgets) {
      const { cut, ...told } = this.budgets()
      const at = new Date(this.clock()).toISOString()
      const answer = { v: 1, org: this.id, machine: this.machine, at, cut: cut ?? at, ...told }
      return { status: 200, body: signJws('holdpoint-budgets+jws', this.keys.fresh, answer) }
    }
    if (path === 'usage') return this.takeUsage((JSON.parse(body) as { usage: string }).usage, json, refuse)
    const withdrawal = /^approvals\/(bnd-[0-9a-f]+)\/withdraw$/.exec(path)
    if (withdrawal) {
      this.withdrawn.push({ handle: withdrawal[1]!, body: JSON.parse(body) })
      return json({
        handle: withdrawal[1],
        state: 'withdrawn',
        role: 'lead',
        approvals: 1,
        eligible: 1,
        url: 'http://x',
      })
    }
    if (path === 'reports') {
      const jws = parseJws((JSON.parse(body) as { report: string }).report)
      if (!crypto.verify(publicPart(this.machineKey), jws.signingInput, jws.signature))
        return refuse(403, 'BAD_SIGNATURE')
      const report = Report.parse(JSON.parse(fromUtf8(jws.payload)))
      const last = this.reports.at(-1)?.seq ?? 0
      if (report.seq > last) {
        this.reports.push(report)
        if (report.journal) this.recorded = { seq: report.journal.seq, head: report.journal.head }
      }
      return json({ seq: Math.max(last, report.seq), ...(this.recorded ? { journal: this.recorded } : {}) })
    }
    return refuse(404, 'NOT_FOUND')
  }

  private isSettled(handle: string): boolean {
    return (
      this.states.some(s => s.handle === handle) ||
      this.answers.some(a => fromUtf8(parseJws(a.jws).payload).includes(handle))
    )
  }

  get etag(): string {
    return `"${this.version}.${this.rulesetDigest}"`
  }
}

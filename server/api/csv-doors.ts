import type { MemberActor } from '#core/actor.ts'
import { figureText, figureTitle } from '#core/approval/describe.ts'
import { type CsvValue, csvText } from '#core/csv.ts'
import { AppError } from '#core/error.ts'
import { requestActor } from '../auth/request-actor.ts'
import { listApprovals } from '../features/approval/read.ts'
import { type EvidenceFilter, evidenceRows } from '../features/audit.ts'
import { type FeatureContext, openContext } from '../features/context.ts'
import { invoiceSheet, invoicesSheet } from '../features/invoice/sheet.ts'
import { listMachines } from '../features/machine-list.ts'
import { listMembers } from '../features/member.ts'
import { ruleSetHistory } from '../features/rule-set-history.ts'
import { focusExport } from '../features/spend/focus-export.ts'
import { readSpendQuery, spendSheet } from '../features/spend/sheet.ts'
import { statementSheet, statementsSheet } from '../features/statement/sheet.ts'
import { errorResponse } from './connector-route.ts'
import { FOCUS_FORMATS, focusAsked, focusResponse } from './focus-file.ts'
import { oneOf, refuseOthers } from './query.ts'

export type Sheet = { columns: readonly string[]; rows: readonly (readonly CsvValue[])[] }
type Ctx = FeatureContext<MemberActor>

/** Lists of at most so many pages go into one file. */
const PAGES = 400

/** GET /api/export/NAME?org=… : a list as a CSV, of what the signed-in member may see and of no other organisation. */
export function csvDoor(name: string, sheet: (ctx: Ctx, query: URLSearchParams) => Promise<Sheet>) {
  return fileDoor(async (ctx, query) => {
    const { columns, rows } = await sheet(ctx, query)
    const file = `${ctx.actor.orgSlug}-${name}-${ctx.now.toISOString().slice(0, 10)}.csv`
    return new Response(csvText(columns, rows), {
      headers: {
        'content-type': 'text/csv; charset=utf-8; header=present',
        'content-disposition': `attachment; filename="${file}"`,
        'cache-control': 'no-store',
      },
    })
  })
}

function fileDoor(file: (ctx: Ctx, query: URLSearchParams, request: Request) => Promise<Response>) {
  return async (request: Request): Promise<Response> => {
    const url = new URL(request.url)
    try {
      const actor = await requestActor(request)
      if (!actor) throw new AppError('NOT_SIGNED_IN', 'Sign in first.')
      if (url.searchParams.get('org') !== actor.orgSlug)
        throw new AppError('NOT_FOUND', 'There is no such organisation.')
      return await file(openContext(actor), url.searchParams, request)
    } catch (error) {
      return errorResponse(error, url.pathname)
    }
  }
}

/** Every page of a list, up to {@link PAGES}. */
async function allPages<T, C>(load: (cursor?: C) => Promise<{ items: T[]; next?: C }>): Promise<T[]> {
  const items: T[] = []
  let cursor: C | undefined
  for (let page = 0; page < PAGES; page++) {
    const part = await load(cursor)
    items.push(...part.items)
    if (part.next === undefined) break
    cursor = part.next
  }
  return items
}

export const memberCsv = csvDoor('members', async ctx => {
  const { members } = await listMembers(ctx)
  return {
    columns: [
      'name',
      'email',
      'role',
      'machines',
      'joined_at_utc',
      'invited_by',
      'last_signed_in_at_utc',
      'left_at_utc',
    ],
    rows: members.map(m => [
      m.name,
      m.email,
      m.role,
      m.machines,
      m.joinedAt,
      m.invitedBy,
      m.lastSignedInAt,
      m.removedAt,
    ]),
  }
})

export const machineCsv = csvDoor('machines', async ctx => ({
  columns: [
    'machine',
    'member',
    'state',
    'rules_version',
    'platform',
    'connector',
    'hooks',
    'unguarded_calls_7d',
    'last_error',
    'joined_at_utc',
    'last_seen_at_utc',
  ],
  rows: (await listMachines(ctx)).map(m => [
    m.label,
    m.member.name,
    m.state,
    m.rulesVersion,
    m.platform,
    m.connector,
    m.hooks.map(hook => `${hook.client}: ${hook.level}`).join('; '),
    m.unguarded7d,
    m.lastError,
    m.joinedAt,
    m.lastSeenAt,
  ]),
}))

export const approvalCsv = csvDoor('approvals', async ctx => {
  const items = await allPages((cursor?: string) => listApprovals(ctx, { state: 'all', ...(cursor ? { cursor } : {}) }))
  return {
    columns: [
      'request',
      'state',
      'rules',
      'action',
      'client',
      'machine',
      'member',
      'takes_role',
      'crossed',
      'answered_by',
      'scope',
      'made_at_utc',
      'settled_at_utc',
    ],
    rows: items.map(a => [
      a.handle,
      a.state,
      a.rules.join('; '),
      a.action,
      a.client,
      a.machine.label,
      a.member.name,
      a.role,
      a.figures.map(figure => `${figureTitle(figure)}: ${figureText(figure)}`).join('; '),
      a.answeredBy.map(by => `${by.name} (${by.decision})`).join('; '),
      a.scope,
      a.createdAt,
      a.settledAt,
    ]),
  }
})

export const ruleSetCsv = csvDoor('rule-sets', async ctx => {
  const items = await allPages((cursor?: number) => ruleSetHistory(ctx, cursor === undefined ? {} : { cursor }))
  return {
    columns: ['version', 'published_at_utc', 'published_by', 'note', 'rules', 'rolled_back_to', 'digest'],
    rows: items.map(v => [v.version, v.publishedAt, v.publishedBy, v.note, v.rules, v.rolledBackTo, v.digest]),
  }
})

/** With `kind`, `actor`, `subject`, `from`, `to` the list is narrowed as the page's is. */
export const auditCsv = csvDoor('audit', (ctx, query) => evidenceRows(ctx, readFilter(query)))

function readFilter(query: URLSearchParams): EvidenceFilter {
  const text = (name: string) => query.get(name)?.slice(0, 64) || undefined
  const time = (name: string) => {
    const value = query.get(name)
    if (!value) return undefined
    const at = new Date(value)
    if (Number.isNaN(at.getTime())) throw new AppError('BAD_INPUT', `${name} is not a time.`)
    return at
  }
  return { kind: text('kind'), actor: text('actor'), subject: text('subject'), from: time('from'), to: time('to') }
}

/** The report as on its page: `from`, `to`, `by`, `step`, `basis`, and `filter=<dimension>:<value>` any number of times. */
export const spendCsv = csvDoor('spend', (ctx, query) => {
  refuseOthers(query, ['org', 'from', 'to', 'by', 'step', 'basis', 'filter'])
  return spendSheet(ctx, readSpendQuery(query))
})

/** Providers' invoices, each beside our own figures. */
export const invoicesCsv = csvDoor('invoices', invoicesSheet)

/** One of them (`id`) by day and model. */
export const invoiceCsv = csvDoor('invoice', invoiceSheet)

/** Usage of a `month`, or of days `from` and `to`, as FOCUS rows: the same file as programs read at /api/v1/focus. */
export const focusFile = fileDoor(async (ctx, query, request) => {
  refuseOthers(query, ['org', 'month', 'from', 'to', 'closed', 'format'])
  const format = oneOf(query, 'format', FOCUS_FORMATS)
  return focusResponse(await focusExport(ctx, focusAsked(query)), { format, org: ctx.actor.orgSlug, request })
})

/** One statement's lines: `tenant` and `month`. They add up as on its page. */
export const statementCsv = csvDoor('statement', statementSheet)

/** All statements, drafts too. */
export const statementsCsv = csvDoor('statements', ctx => statementsSheet(ctx))

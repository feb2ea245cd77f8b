import { formatPlural } from '#app/_ui/format.ts'
import type { Ceiling, SessionMethod } from '#core/approval/answer.ts'
import { ceilingText } from '#core/approval/describe.ts'
import { CLIENT_NAMES, type Client } from '#core/client.ts'
import { isDay, isMonth, monthWords } from '#core/day.ts'
import type { EvidenceKind } from '#core/evidence/entry.ts'
import type { Json } from '#core/json.ts'
import { switchedOffWords } from '#core/level-words.ts'
import { methodName } from '#core/permission.ts'
import { LEVEL_WORDS } from '../level-words.ts'
import { refusalWords } from '../machines/machine-words.ts'
import type { EvidenceRow } from '../outputs.ts'
import { ageWords } from '../settings/age-words.ts'
import { keyName, shortDigest, whoText } from './who-text.ts'

type Row = Pick<EvidenceRow, 'kind' | 'actor' | 'subject' | 'data' | 'mentioned'>

/** What an entry's title leaves open: to whom or what it happened, and what sets it apart. Who did it stands beside it. */
export const entryLine = (row: Row): string | undefined => {
  // A kind that a later version writes is shown by its title.
  const parts = LINES[row.kind]?.(row) ?? []
  return parts.filter(Boolean).join(', ') || undefined
}

/** `, tenant acme`; nothing for the organisation's own. */
function budgetOf(of: unknown): string {
  if (typeof of !== 'object' || of === null) return ''
  return Object.entries(of)
    .map(([key, value]) => `, ${key} ${String(value)}`)
    .join('')
}

const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' })
const dayLine = (day: string) => (isDay(day) ? DAY.format(new Date(day)) : day)

/** A budget's window as people call it: `November 2026 by the clock of Europe/Amsterdam`. */
function windowLine(id: string): string {
  const [, kind, period, zone] = /^([a-z]+(?:-\d+d)?):([^@]+)@(.+)$/.exec(id) ?? []
  if (kind === undefined || period === undefined) return `window ${id}`
  const rolling = /^rolling-(\d+)d$/.exec(kind)?.[1]
  const words: Record<string, string> = {
    daily: dayLine(period),
    weekly: `the week from ${dayLine(period)}`,
    monthly: isMonth(period) ? monthWords(period) : period,
    quarterly: period.replace(/^(\d+)-Q(\d)$/, 'quarter $2 of $1'),
  }
  return `in ${rolling ? `${rolling} days, rolling` : (words[kind] ?? period)} by the clock of ${zone}`
}

/** From what to what; nothing where the reader does not see these figures. */
const amounts = ({ old, new: now }: Row['data']): string => (old === undefined ? '' : `: $${text(old)} → $${text(now)}`)

type Part = string | undefined | false
/** One line for every kind there is. */
const LINES: Record<EvidenceKind, (row: Row) => readonly Part[]> = {
  'organisation.created': () => [],
  'organisation.setting_changed': ({ data }) => [settingLine(data)],
  'organisation.restored': ({ data }) => [
    data.reportedVersion !== undefined &&
      `a machine has version ${text(data.reportedVersion)} of the boundaries, this copy ${text(data.newestVersion)}`,
    data.markedSize !== undefined &&
      `the mark outside stands at entry ${text(data.markedSize)}, this copy at entry ${text(data.size)}`,
  ],
  'organisation.restore_confirmed': ({ data }) => [`the next boundaries become version ${text(data.nextVersion)}`],
  'member.invited': ({ subject, data }) => [`${subject?.name ?? 'somebody'} as ${text(data.role)}`],
  'member.invitation_revoked': ({ subject, data }) => [
    `of ${subject?.name ?? 'somebody'}`,
    data.why === 'replaced' && 'a newer one took its place',
  ],
  'member.joined': ({ subject, data }) => [
    `${who(subject)} as ${text(data.role)}`,
    data.how === 'invitation' ? 'by invitation' : data.how === 'created' && 'with the organisation',
  ],
  'member.role_changed': ({ subject, data }) => [`${who(subject)}: ${text(data.from)} → ${text(data.to)}`, ended(data)],
  'member.removed': ({ subject, data }) => [`${who(subject)}, who was ${text(data.role)}`, ended(data)],
  'member.signed_in': ({ data, mentioned }) => [
    data.connection !== undefined
      ? `through ${mentioned[String(data.connection)] ?? 'a provider'}`
      : data.method !== undefined && `with ${methodName(data.method as SessionMethod) ?? text(data.method)}`,
    data.demo === true && 'in demo mode',
  ],
  'member.sign_in_refused': ({ subject, data }) => [
    subject?.kind === 'connection' ? `through ${who(subject)}` : who(subject),
    SIGN_IN_REFUSALS[String(data.why)] ?? text(data.why),
  ],
  'member.laptop_lost': ({ subject, data }) => [`of ${who(subject)}`, ended(data)],
  'member.signed_out_everywhere': ({ subject, data }) => [who(subject), ended(data)],
  'connection.created': ({ subject, data }) => [who(subject), text(data.issuer)],
  'connection.changed': ({ subject }) => [who(subject)],
  'connection.removed': ({ subject, data }) => [who(subject), ended(data)],
  'credential.issued': ({ subject }) => [subject?.kind === 'member' ? `to ${who(subject)}` : who(subject)],
  'credential.revoked': ({ subject }) => [who(subject)],
  'root.published': ({ data }) => [`number ${text(data.seq)}`, `digest ${shortDigest(String(data.digest))}`],
  'key.rotated': ({ data }) => [
    `${keyName(String(data.role))}: ${shortDigest(String(data.old))} → ${shortDigest(String(data.new))}`,
  ],
  'ruleset.published': ({ data }) => [
    `version ${text(data.version)}`,
    data.rules !== undefined &&
      `${formatPlural(Number(data.rules), 'rule')}, ${data.enforced === data.rules ? 'all of them' : text(data.enforced)} enforced`,
    data.rolledBackTo !== undefined && `the text of version ${text(data.rolledBackTo)} again`,
  ],
  'ruleset.equivocation': ({ subject, data }) => [
    `${data.document === 'root' ? `root ${text(data.seq)}` : `version ${text(data.version)}`} is ${shortDigest(String(data.reportedDigest))} at ${who(subject)}`,
    data.otherDigest === undefined ? 'and not known here' : `${shortDigest(String(data.otherDigest))} elsewhere`,
  ],
  'machine.join_line_made': ({ subject }) => [`for a machine of ${who(subject)}`],
  'machine.joined': ({ actor, subject, data }) => [
    `${who(actor)} for ${who(subject)}`,
    data.pinned === 'first use' && 'without a digest to compare',
  ],
  'machine.left': ({ subject }) => [who(subject)],
  'machine.revoked': ({ subject, data }) => [
    who(subject),
    data.why === 'laptop_lost'
      ? 'its laptop was reported lost'
      : data.why === 'member_removed' && 'its member was removed',
  ],
  'machine.cloned': ({ subject, data }) => [
    who(subject),
    `report ${text(data.seq)} came with a content of its own after report ${text(data.recordedSeq)}`,
  ],
  'machine.reported_refusal': ({ subject, data }) => [`${who(subject)}: ${refusalWords(String(data.code))}`],
  'machine.level_changed': ({ subject, data }) => [
    `${clientName(data.client)} on ${who(subject)}: ${level(data.from)} → ${level(data.to)}`,
    ...(Array.isArray(data.off) ? data.off.map(off => switchedOffWords(String(off))) : []),
  ],
  'machine.unguarded_calls': ({ subject, data }) => [
    `${formatPlural(Number(data.added), 'call')} of ${clientName(data.client)} on ${who(subject)}`,
  ],
  'journal.segment': ({ subject, data }) => [
    `of ${who(subject)}, ${data.from === data.to ? `entry ${text(data.to)}` : `entries ${text(data.from)} to ${text(data.to)}`}`,
  ],
  'journal.rolled_back': ({ subject, data }) => [
    `of ${who(subject)}, to entry ${text(data.seq)} after entry ${text(data.recordedSeq)}`,
  ],
  'journal.reset': ({ subject, data }) => [`of ${who(subject)}, after entry ${text(data.recordedSeq)}`],
  'usage.lowered': ({ subject, data }) => [
    `${text(data.day)} of ${who(subject)}${amounts(data)}`,
    data.oldCalls !== data.newCalls && `${text(data.oldCalls)} → ${formatPlural(Number(data.newCalls), 'call')}`,
  ],
  'usage.quarantined': ({ subject, data }) => [`${text(data.day)} of ${who(subject)}, from a clock ahead of this one`],
  'usage.repriced': ({ subject, data }) => [
    `${text(data.from)} to ${text(data.to)} of ${who(subject)}${amounts(data)}`,
    `prices of version ${text(data.version)}`,
  ],
  'budget.step_reached': ({ data }) => [
    `${text(data.budget)}${budgetOf(data.of)}: ${Array.isArray(data.steps) ? data.steps.map(step => `${text(step)} %`).join(', ') : ''} of ${text(data.amount)} ${text(data.currency)}`,
    data.used !== undefined && `${text(data.used)} ${text(data.currency)} used`,
    windowLine(String(data.window)),
  ],
  'budget.reservation_overrun': ({ subject, data }) => [
    `${text(data.budget)}, by ${who(subject)}`,
    data.spent !== undefined && `${text(data.reserved)} reserved, ${text(data.spent)} spent`,
    data.late === true && 'after its lease had ended',
  ],
  'statement.closed': ({ data }) => [
    `${text(data.month)} of tenant ${text(data.tenant)}: ${text(data.total)} ${text(data.currency)}`,
    data.boundAccepted === true && 'usage without a price accepted at the dearest',
    `digest ${shortDigest(String(data.digest))}`,
  ],
  'statement.sent': ({ data }) => [
    `${text(data.month)} of tenant ${text(data.tenant)}`,
    Number(data.number) > 1 && `mail ${text(data.number)}`,
  ],
  'statement.rule_changed': ({ data }) => [
    data.of === undefined
      ? `${STATEMENT_SETTINGS[String(data.setting)] ?? text(data.setting)}: ${text(data.from)} → ${text(data.to)}`
      : `${text(data.of)}: ${text(data.from)} → ${text(data.to)}`,
  ],
  'tenant.added': ({ data }) => [`tenant ${text(data.tenant)}`],
  'tenant.renamed': ({ data }) => [`tenant ${text(data.tenant)}`],
  'tenant.removed': ({ data }) => [`tenant ${text(data.tenant)}`],
  'tenant.contact_changed': ({ data }) => [
    `tenant ${text(data.tenant)}`,
    data.removed === true && 'nobody is mailed now',
  ],
  'figures.granted': row => [
    `${who(row.subject)} may see the figures of ${granted(row)} until ${text(row.data.until)}`,
  ],
  'figures.grant_ended': row => [`${who(row.subject)} no longer sees the figures of ${granted(row)}`],
  'token.made': ({ data }) => [
    `${String(data.start)}…, good until ${text(data.until)}`,
    Array.isArray(data.scopes) && `may read ${data.scopes.map(scopeName).join(' and ')}`,
  ],
  'token.ended': ({ data }) => [`${String(data.start)}…`],
  'invoice.imported': ({ data }) => [
    `${text(data.provider)}, ${text(data.month)}: ${text(data.total)} ${text(data.currency)} in ${formatPlural(Number(data.lines), 'line')}`,
    data.replaced !== undefined && `in the place of ${text(data.was)} ${text(data.wasCurrency)}`,
  ],
  'invoice.spread': ({ data }) => [
    `${text(data.provider)}, ${text(data.month)}: ${text(data.from)} → ${text(data.to)}`,
  ],
  'invoice.removed': ({ data }) => [
    `${text(data.provider)}, ${text(data.month)}: ${text(data.total)} ${text(data.currency)}`,
    data.spread === true && 'its difference is on no statement any more',
  ],
  'approval.requested': ({ subject, data }) => [
    `${who(subject)} for ${rules(data.rules)}`,
    `${Number(data.approvals) > 1 ? `${text(data.approvals)} times ` : ''}${text(data.role)} or above`,
  ],
  'approval.voted': ({ subject, data }) => [
    who(subject),
    scope(data.asked),
    `${formatPlural(Number(data.missing), 'approval')} to go`,
    ...marks(data),
  ],
  'approval.vote_refused': ({ subject, data }) => [
    who(subject),
    `${data.decision === 'deny' ? 'a denial' : 'an approval'}: ${VOTE_REFUSALS[String(data.code)] ?? text(data.code)}`,
  ],
  'approval.approved': ({ subject, data }) => [
    who(subject),
    scope(data.scope),
    Array.isArray(data.until) &&
      data.until.length > 0 &&
      `below ${data.until.map(ceiling => ceilingText(ceiling as unknown as Ceiling)).join(' and ')}`,
    ...marks(data),
  ],
  'approval.denied': ({ subject, data }) => [who(subject), ...marks(data)],
  'approval.expired': ({ subject }) => [who(subject)],
  'approval.withdrawn': ({ subject, data }) => [who(subject), END_WHYS[String(data.why)] ?? text(data.why)],
  'approval.used': ({ subject }) => [who(subject)],
  'approval.lapsed': ({ subject }) => [who(subject)],
  'approval.revoked': ({ subject, data }) => [who(subject), END_WHYS[String(data.why)] ?? text(data.why)],
}

const scopeName = (scope: Json): string => (scope === 'spend.read' ? 'spend' : text(scope))
const who = (named: Row['subject']): string => (named ? whoText(named) : 'somebody')
const clientName = (client: Json | undefined): string => CLIENT_NAMES[client as Client] ?? text(client)
const level = (name: Json | undefined): string => LEVEL_WORDS[String(name)]?.word ?? text(name)
const text = (value: Json | undefined): string => (value === undefined ? '?' : String(value).replaceAll('_', ' '))
const scope = (value: Json | undefined): string =>
  value === 'session' ? 'for the rest of the session' : value === 'step' ? 'for one step' : text(value)
const marks = (data: Row['data']): Part[] => [
  data.self === true && 'their own request',
  data.demo === true && 'in demo mode',
]

/** `1 machine, 2 sessions and 3 credentials ended`, as far as the entry counts them. */
function ended(data: Row['data']): Part {
  const counts = [
    ['machines', 'machine'],
    ['sessions', 'session'],
    ['tokens', 'credential'],
  ].flatMap(([key, noun]) => (Number(data[key!]) > 0 ? [formatPlural(Number(data[key!]), noun!)] : []))
  return counts.length > 0 && `${counts.join(' and ')} ended`
}

function rules(value: Json | undefined): string {
  const names = (Array.isArray(value) ? value : []).flatMap(rule => {
    const name = typeof rule === 'string' ? rule : (rule as { name?: Json } | null)?.name
    return typeof name === 'string' ? [`org:${name}`] : []
  })
  return names.length > 0 ? names.join(' and ') : 'a boundary'
}

const STATEMENT_SETTINGS: Record<string, string> = { basis: 'what they count', firstMonth: 'first month' }

const SETTINGS: Record<string, string> = {
  timeZone: 'time zone of reports',
  name: 'name',
  selfAnswer: 'own requests',
  whenBroken: 'when a hook is broken',
  maxAgeS: 'greatest age of rules',
  adminCredential: 'credentials of the command',
}

function settingLine({ setting, from, to }: Row['data']): string {
  const words = (value: Json): string => {
    if (setting === 'maxAgeS' && typeof value === 'number') return ageWords(value)
    return value === true ? 'on' : value === false ? 'off' : String(value)
  }
  const named = SETTINGS[String(setting)] ?? text(setting)
  return from === undefined || to === undefined ? named : `${named}: ${words(from)} → ${words(to)}`
}

const SIGN_IN_REFUSALS: Record<string, string> = {
  five_wrong_codes: 'five wrong codes were typed',
  issuer: 'the provider answered under another name',
  unverified: 'the provider has not verified the address',
  domain: 'an address of a domain that the provider is not believed about',
  no_member: 'no member has that address, or another account of the provider has it',
  no_sso: 'the provider was removed in that moment',
}

const VOTE_REFUSALS: Record<string, string> = {
  NOT_APPROVER: 'not theirs to answer',
  OWN_REQUEST: 'it was their own request',
  NOT_PENDING: 'it was settled already',
  FORBIDDEN: 'their role or sign-in does not allow it',
  CONFLICT: 'they had answered already',
}

const END_WHYS: Record<string, string> = {
  withdrawn: 'by the requester',
  session_ended: 'its session ended',
  denied_here: 'denied on the machine',
  rule_gone: 'its rule is no longer in force',
  left: 'the machine left',
  revoked: 'the machine was revoked',
  laptop_lost: 'the laptop was reported lost',
  member_removed: 'the member was removed',
  restored: 'the database was restored',
  undefined: '',
}

/** Whose figures a grant opens. */
const granted = ({ data, mentioned }: Row): string =>
  data.of === undefined ? 'everybody' : (mentioned[String(data.of)] ?? 'somebody')

import { expect, test } from 'vitest'
import { entryLine } from '#app/(console)/[org]/audit/entry-line.ts'
import { keyName, shortDigest, whoText } from '#app/(console)/[org]/audit/who-text.ts'
import { shownKeys } from '#app/(console)/[org]/settings/setting-words.ts'
import { EVIDENCE_KINDS, type EvidenceKind } from '#core/evidence/entry.ts'
import type { Json } from '#core/json.ts'
import { KEY_ROLES } from '#core/key.ts'

const named = (kind: string, name: string | null, ref = `${kind}-1`) => ({ kind, ref, name, erased: false })
const YARA = named('member', 'Yara')
const VM = named('machine', 'vm')
const ADA = named('member', 'Ada')
const REQUEST = named('approval', null, 'bnd-1a2b3c4d5e6f')
const OLD = 'QBrrCz8cKJwq9iyVMBhSplqvvg3tdUtWBEjHgJzfL5M'
const NEW = 'x7Kq1z8cKJwq9iyVMBhSplqvvg3tdUtWBEjHgJzfL5M'

type Example = [EvidenceKind, ReturnType<typeof named> | null, { [key: string]: Json }, string | undefined]
/** Every kind with the data that is written with it, and the line that stands beside its title. */
const EXAMPLES: Example[] = [
  ['organisation.created', named('organisation', null), {}, undefined],
  ['organisation.setting_changed', null, { setting: 'name' }, 'name'],
  [
    'organisation.setting_changed',
    null,
    { setting: 'maxAgeS', from: 86400, to: 21600 },
    'greatest age of rules: 1\u00a0day → 6\u00a0hours',
  ],
  [
    'organisation.setting_changed',
    null,
    { setting: 'adminCredential', from: true, to: false },
    'credentials of the command: on → off',
  ],
  [
    'organisation.restored',
    null,
    { reportedVersion: 7, newestVersion: 5, reportedDigest: OLD },
    'a machine has version 7 of the boundaries, this copy 5',
  ],
  [
    'organisation.restored',
    null,
    { markedSize: 12, markedLeaf: OLD, markedVersion: 3, size: 9, leaf: NEW },
    'the mark outside stands at entry 12, this copy at entry 9',
  ],
  [
    'organisation.restore_confirmed',
    null,
    { highestReported: 7, nextVersion: 8 },
    'the next boundaries become version 8',
  ],
  ['member.invited', named('invitation', 'Yara'), { role: 'lead' }, 'Yara as lead'],
  ['member.invited', named('invitation', null), { role: 'lead' }, 'somebody as lead'],
  [
    'member.invitation_revoked',
    named('invitation', 'Yara'),
    { why: 'replaced' },
    'of Yara, a newer one took its place',
  ],
  ['member.joined', YARA, { role: 'lead', how: 'invitation', invitation: 'inv_1' }, 'Yara as lead, by invitation'],
  ['member.joined', YARA, { role: 'owner', how: 'created' }, 'Yara as owner, with the organisation'],
  ['member.role_changed', YARA, { from: 'member', to: 'lead' }, 'Yara: member → lead'],
  [
    'member.removed',
    YARA,
    { role: 'lead', machines: 1, sessions: 2, tokens: 0 },
    'Yara, who was lead, 1\u00a0machine and 2\u00a0sessions ended',
  ],
  ['member.signed_in', ADA, { method: 'email_code', demo: true }, 'with an e-mail code, in demo mode'],
  ['member.signed_in', ADA, { method: 'oidc', connection: 'idp_1' }, 'through Acme login'],
  ['member.sign_in_refused', YARA, { why: 'five_wrong_codes' }, 'Yara, five wrong codes were typed'],
  [
    'member.sign_in_refused',
    named('connection', 'Acme login'),
    { why: 'unverified' },
    'through Acme login, the provider has not verified the address',
  ],
  ['member.laptop_lost', YARA, { machines: 0, sessions: 1, tokens: 0 }, 'of Yara, 1\u00a0session ended'],
  ['member.signed_out_everywhere', YARA, { sessions: 3 }, 'Yara, 3\u00a0sessions ended'],
  [
    'connection.created',
    named('connection', 'Acme login'),
    { issuer: 'https://login.acme.example', domains: [] },
    'Acme login, https://login.acme.example',
  ],
  ['connection.changed', named('connection', 'Acme login'), {}, 'Acme login'],
  ['connection.removed', named('connection', null), { sessions: 1 }, 'a provider, 1\u00a0session ended'],
  ['credential.issued', YARA, { credential: 'crd_1', expiresAt: '2026-11-30T12:00:00.000Z' }, 'to Yara'],
  ['credential.revoked', named('credential', 'Yara'), {}, 'the credential of Yara'],
  ['root.published', named('root', null, '3'), { seq: 3, digest: OLD }, 'number 3, digest QBrrCz8c…'],
  [
    'key.rotated',
    named('key', 'ruleset', NEW),
    { role: 'ruleset', old: OLD, new: NEW },
    'Rule set: QBrrCz8c… → x7Kq1z8c…',
  ],
  [
    'ruleset.published',
    named('ruleset', null, '5'),
    { version: 5, digest: OLD, rules: 4, enforced: 2, rolledBackTo: 3 },
    'version 5, 4\u00a0rules, 2 enforced, the text of version 3 again',
  ],
  [
    'ruleset.equivocation',
    VM,
    { document: 'ruleset', version: 5, reportedDigest: OLD, otherDigest: NEW },
    'version 5 is QBrrCz8c… at vm, x7Kq1z8c… elsewhere',
  ],
  [
    'ruleset.equivocation',
    VM,
    { document: 'root', seq: 2, reportedDigest: OLD },
    'root 2 is QBrrCz8c… at vm, and not known here',
  ],
  ['machine.join_line_made', YARA, { expiresAt: '2026-11-30T12:00:00.000Z' }, 'for a machine of Yara'],
  ['machine.joined', YARA, { machine: 'mac_1', pinned: 'first use' }, 'vm for Yara, without a digest to compare'],
  [
    'budget.step_reached',
    named('organisation', 'Acme'),
    {
      budget: 'monthly',
      of: { tenant: 'acme' },
      window: 'monthly:2026-11@UTC',
      steps: [50, 75],
      amount: '500',
      currency: 'USD',
      basis: 'equivalent',
      used: '380.5',
    },
    'monthly, tenant acme: 50 %, 75 % of 500 USD, 380.5 USD used, in November 2026 by the clock of UTC',
  ],
  [
    'budget.reservation_overrun',
    VM,
    { budget: 'monthly', reservation: 'rsv_1', reserved: '5', spent: '6', late: true },
    'monthly, by vm, 5 reserved, 6 spent, after its lease had ended',
  ],
  ['machine.left', VM, {}, 'vm'],
  ['machine.revoked', VM, { why: 'laptop_lost' }, 'vm, its laptop was reported lost'],
  ['machine.cloned', VM, { seq: 4, recordedSeq: 9 }, 'vm, report 4 came with a content of its own after report 9'],
  [
    'machine.reported_refusal',
    VM,
    { code: 'bad_signature', at: '2026-11-30T12:00:00.000Z' },
    'vm: the signature does not verify',
  ],
  [
    'machine.level_changed',
    VM,
    { client: 'claude-code', from: 'user-hook', to: 'broken', off: ['hook_edited'] },
    'Claude Code on vm: user hook → broken, the hook was edited',
  ],
  ['machine.unguarded_calls', VM, { client: 'claude-code', added: 5 }, '5\u00a0calls of Claude Code on vm'],
  ['journal.segment', VM, { from: 1, to: 3, head: OLD }, 'of vm, entries 1 to 3'],
  ['journal.segment', VM, { from: 3, to: 3, head: OLD }, 'of vm, entry 3'],
  ['journal.rolled_back', VM, { seq: 2, recordedSeq: 9 }, 'of vm, to entry 2 after entry 9'],
  ['journal.reset', VM, { seq: 1, recordedSeq: 9 }, 'of vm, after entry 9'],
  [
    'approval.requested',
    REQUEST,
    { rules: [{ name: 'session-spend', digest: OLD }], role: 'lead', approvals: 2 },
    'bnd-1a2b3c4d5e6f for org:session-spend, 2 times lead or above',
  ],
  [
    'approval.voted',
    REQUEST,
    { decision: 'approve', asked: 'step', missing: 1 },
    'bnd-1a2b3c4d5e6f, for one step, 1\u00a0approval to go',
  ],
  [
    'approval.vote_refused',
    REQUEST,
    { code: 'OWN_REQUEST', decision: 'approve', how: 'web' },
    'bnd-1a2b3c4d5e6f, an approval: it was their own request',
  ],
  [
    'approval.approved',
    REQUEST,
    { scope: 'session', until: [{ figure: 'session_cost_usd', op: '<', value: '40' }], self: true },
    'bnd-1a2b3c4d5e6f, for the rest of the session, below $40.00, their own request',
  ],
  ['approval.denied', REQUEST, { scope: 'session', demo: true }, 'bnd-1a2b3c4d5e6f, in demo mode'],
  ['approval.expired', REQUEST, {}, 'bnd-1a2b3c4d5e6f'],
  ['approval.withdrawn', REQUEST, { by: 'machine', why: 'denied_here' }, 'bnd-1a2b3c4d5e6f, denied on the machine'],
  ['approval.used', REQUEST, { answerId: 'x' }, 'bnd-1a2b3c4d5e6f'],
  ['approval.lapsed', REQUEST, { answerId: 'x' }, 'bnd-1a2b3c4d5e6f'],
  ['approval.revoked', REQUEST, { by: 'member' }, 'bnd-1a2b3c4d5e6f'],
  [
    'usage.lowered',
    VM,
    { day: '2026-11-29', old: '12.5', new: '3', oldCalls: 40, newCalls: 9 },
    '2026-11-29 of vm: $12.5 → $3, 40 → 9\u00a0calls',
  ],
  ['usage.lowered', VM, { day: '2026-11-29' }, '2026-11-29 of vm'],
  ['usage.quarantined', VM, { day: '2027-11-29' }, '2027-11-29 of vm, from a clock ahead of this one'],
  [
    'usage.repriced',
    VM,
    { from: '2026-11-01', to: '2026-11-30', old: '12.5', new: '10', version: 4 },
    '2026-11-01 to 2026-11-30 of vm: $12.5 → $10, prices of version 4',
  ],
  [
    'statement.closed',
    null,
    { tenant: 'acme', month: '2026-11', digest: NEW, total: '12.34', currency: 'USD', boundAccepted: true },
    '2026-11 of tenant acme: 12.34 USD, usage without a price accepted at the dearest, digest x7Kq1z8c…',
  ],
  ['statement.sent', null, { tenant: 'acme', month: '2026-11', number: 2 }, '2026-11 of tenant acme, mail 2'],
  ['statement.sent', null, { tenant: 'acme', month: '2026-11', number: 1 }, '2026-11 of tenant acme'],
  [
    'statement.rule_changed',
    null,
    { of: 'unattributed', from: 'not allocated', to: 'in equal parts' },
    'unattributed: not allocated → in equal parts',
  ],
  [
    'statement.rule_changed',
    null,
    { setting: 'basis', from: 'equivalent', to: 'billed' },
    'what they count: equivalent → billed',
  ],
  ['tenant.added', null, { tenant: 'acme' }, 'tenant acme'],
  ['tenant.renamed', null, { tenant: 'acme' }, 'tenant acme'],
  ['tenant.removed', null, { tenant: 'acme' }, 'tenant acme'],
  ['tenant.contact_changed', null, { tenant: 'acme' }, 'tenant acme'],
  ['tenant.contact_changed', null, { tenant: 'acme', removed: true }, 'tenant acme, nobody is mailed now'],
  ['figures.granted', ADA, { of: 'salted', until: '2026-12-24' }, 'Ada may see the figures of Yara until 2026-12-24'],
  ['figures.grant_ended', ADA, {}, 'Ada no longer sees the figures of everybody'],
  [
    'token.made',
    null,
    { start: 'hpt_abcd', scopes: ['spend.read'], until: '2026-12-24' },
    'hpt_abcd…, good until 2026-12-24, may read spend',
  ],
  ['token.ended', null, { start: 'hpt_abcd' }, 'hpt_abcd…'],
  [
    'invoice.imported',
    null,
    { provider: 'anthropic', month: '2026-11', total: '12.5', currency: 'USD', lines: 3 },
    'anthropic, 2026-11: 12.5 USD in 3\u00a0lines',
  ],
  [
    'invoice.imported',
    null,
    {
      provider: 'openai',
      month: '2026-11',
      total: '12.5',
      currency: 'USD',
      lines: 1,
      replaced: 'x',
      was: '10',
      wasCurrency: 'EUR',
    },
    'openai, 2026-11: 12.5 USD in 1\u00a0line, in the place of 10 EUR',
  ],
  [
    'invoice.spread',
    null,
    { provider: 'anthropic', month: '2026-11', from: 'not allocated', to: 'in equal parts' },
    'anthropic, 2026-11: not allocated → in equal parts',
  ],
  [
    'invoice.removed',
    null,
    { provider: 'anthropic', month: '2026-11', total: '12.5', currency: 'USD', spread: true },
    'anthropic, 2026-11: 12.5 USD, its difference is on no statement any more',
  ],
]

test.each(EXAMPLES)('%s says to whom or what it happened', (kind, subject, data, line) => {
  const actor = kind.startsWith('machine.') || kind.startsWith('journal.') ? VM : ADA
  expect(entryLine({ kind, actor, subject, data, mentioned: { idp_1: 'Acme login', salted: 'Yara' } })).toBe(line)
})

test('there is an example of every kind', () => {
  expect([...new Set(EXAMPLES.map(([kind]) => kind))].sort()).toEqual([...EVIDENCE_KINDS].sort())
})

test('a kind that a later version wrote is shown by its title', () => {
  const later = { kind: 'later.thing' as EvidenceKind, actor: ADA, subject: null, data: {}, mentioned: {} }
  expect(entryLine(later)).toBeUndefined()
})

test('a key is called as the settings call it, and its thumbprint is shortened', () => {
  const at = new Date(0)
  for (const role of ['owner', ...KEY_ROLES]) {
    const { current } = shownKeys([{ role, kid: OLD, createdAt: at, retiredAt: null, next: false }])
    if (current[0]) expect(keyName(role)).toBe(current[0].words.name)
    expect(keyName(role)).not.toBe(role)
  }
  expect(whoText(named('key', 'ruleset', OLD))).toBe('rule set key QBrrCz8c…')
  expect(shortDigest(OLD)).toHaveLength(9)
})

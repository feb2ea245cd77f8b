import { expect, test } from 'vitest'
import { csvQuery, daysBetween, filterInput } from '#app/(console)/[org]/audit/audit-filter.ts'
import { entryFacts } from '#app/(console)/[org]/audit/entry-data.ts'
import { KIND_WORDS, kindChoices } from '#app/(console)/[org]/audit/kind-words.ts'
import { whoText } from '#app/(console)/[org]/audit/who-text.ts'
import { mayGive, offeredRoles } from '#app/(console)/[org]/members/offered-roles.ts'
import { ageChoices, selfChoices, shownKeys, typedDomains } from '#app/(console)/[org]/settings/setting-words.ts'
import type { MemberActor } from '#core/actor.ts'
import { EVIDENCE_KINDS } from '#core/evidence/entry.ts'
import { maySetRole, UNDATED_SIGN_IN } from '#core/permission.ts'
import { ALL_ROLES } from '#core/role.ts'

test('a role is offered exactly where the server would let it be given', () => {
  for (const role of ALL_ROLES) {
    const actor = { role } as MemberActor
    for (const other of ALL_ROLES)
      expect(mayGive(role, other), `${role} gives ${other}`).toBe(maySetRole(actor, 'auditor', other))
  }
  expect(offeredRoles('admin').map(({ value, disabled }) => [value, disabled])).toEqual([
    ['owner', true],
    ['admin', false],
    ['lead', false],
    ['member', false],
    ['auditor', false],
  ])
})

test('every kind of entry can be filtered for, and has words of its own', () => {
  const offered = kindChoices().map(choice => choice.value)
  expect(EVIDENCE_KINDS.filter(kind => !offered.includes(kind) && !offered.includes(kind.split('.')[0]!))).toEqual([])
  expect(new Set(Object.values(KIND_WORDS)).size).toBe(EVIDENCE_KINDS.length)
})

test('days of a filter are whole days of UTC, the last one included; what is no day is left out', () => {
  expect(daysBetween({ from: '2026-11-30', to: '2026-11-30' })).toEqual({
    from: new Date('2026-11-30T00:00:00Z'),
    to: new Date('2026-12-01T00:00:00Z'),
  })
  expect(daysBetween({ from: '2026-02-30', to: 'yesterday' })).toEqual({})
})

test('the CSV is narrowed like the list', () => {
  expect(filterInput({ kind: ' approval ', actor: '', subject: undefined })).toEqual({ kind: 'approval' })
  expect(csvQuery({ kind: 'approval', to: '2026-11-30' })).toEqual({ kind: 'approval', to: '2026-12-01T00:00:00.000Z' })
})

test('no fact of an entry is left out, and moments are told as moments', () => {
  const data = {
    role: 'lead',
    demo: true,
    notAfter: '2026-11-30T12:00:00.000Z',
    until: [],
    digest: 'QBrrCz8cKJwq9iyVMBhSplqvvg3tdUtWBEjHgJzfL5M',
    rules: [{ name: 'a' }],
    why: 'five_wrong_codes',
  }
  const facts = entryFacts(data)
  expect(facts).toHaveLength(Object.keys(data).length)
  expect(facts.find(fact => fact.key === 'Holds until')?.when).toEqual(new Date('2026-11-30T12:00:00Z'))
  expect(facts.find(fact => fact.key === 'Digest')).toMatchObject({ code: true, text: data.digest })
  expect(facts.find(fact => fact.key === 'Why')?.text).toBe('five wrong codes')
  expect(facts.find(fact => fact.key === 'Rules')?.text).toBe('[{"name":"a"}]')
  expect(entryFacts({ connection: 'idp_x' }, { idp_x: 'Acme login' })[0]?.text).toBe('Acme login (idp_x)')
  expect(entryFacts({ authnAt: UNDATED_SIGN_IN.toISOString() })[0]).toMatchObject({
    text: 'the provider does not say when',
  })
})

test('nobody is named whom the reader may not see, and an erased name is said to be erased', () => {
  const member = { kind: 'member', ref: 'commitment', name: null, erased: false }
  expect(whoText(member)).toBe('a member')
  expect(whoText({ ...member, name: 'Ada' })).toBe('Ada')
  expect(whoText({ ...member, erased: true })).toBe('somebody whose name was erased')
})

test('the age that is set stands among the choices, whatever it is', () => {
  expect(ageChoices(86_400).filter(choice => choice.value === '86400')).toEqual([
    { value: '86400', label: '1\u00a0day' },
  ])
  expect(ageChoices(5400).map(choice => choice.label)).toContain('1\u00a0h 30\u00a0min')
})

test('a choice that nobody can use yet is shown only where it is set', () => {
  expect(selfChoices('account').map(choice => choice.value)).toEqual(['never', 'account'])
  expect(selfChoices('key').map(choice => choice.value)).toContain('key')
})

test('keys in use, retired ones and the committed successor are told apart', () => {
  const at = new Date(0)
  const key = (role: string, kid: string, more: { retiredAt?: Date; next?: boolean } = {}) => ({
    role,
    kid,
    createdAt: at,
    retiredAt: more.retiredAt ?? null,
    next: more.next ?? false,
  })
  const shown = shownKeys([
    key('ruleset', 'r2'),
    key('ruleset', 'r1', { retiredAt: at }),
    key('owner', 'o2', { next: true }),
    key('owner', 'o1'),
    key('registry', 'g'),
  ])
  expect(shown.current.map(each => each.kid)).toEqual(['o1', 'r2'])
  expect(shown.retired.map(each => each.kid)).toEqual(['r1'])
  expect(shown.committed?.kid).toBe('o2')
})

test('domains are read however they are typed', () => {
  expect(typedDomains(' @Acme.example, acme.example;\nother.example ')).toEqual(['acme.example', 'other.example'])
})

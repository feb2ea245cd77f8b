import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compileRules, mergeRules } from '#core/boundary/evaluate.ts'
import { parseBoundaries } from '#core/boundary/parse.ts'
import type { AttributionRule } from '#core/rules/shape.ts'
import {
  attribute,
  boundaryAttribution,
  listedTags,
  NOT_ATTRIBUTED,
  type SessionFacts,
  sharePct,
  tagsByRules,
  unlistedByDay,
} from '#core/usage/attribution.ts'
import { parseRepositoryFile, parseRunTags } from '#core/usage/tag-text.ts'
import { tagsFromKey, tagsKey } from '#core/usage/tags.ts'
import { anyTags, DAY, ONE } from './any-usage.ts'

const rules: AttributionRule[] = [
  { when: { repository: 'billing-*' }, set: { tenant: 'acme', project: 'billing-api' } },
  { when: { directory: '/home/*/globex/*', machine: 'ci-*' }, set: { tenant: 'globex' } },
  { when: { environment: 'CLIENT=ac*' }, set: { tenant: 'acme' } },
  { when: { member: '*@contractor.example' }, set: { team: 'platform' } },
  { when: { repository: '*' }, set: { team: 'data', project: 'rest' } },
]
const facts: SessionFacts = {
  repository: ['billing-api', 'github.com/acme/billing-api'],
  member: ['mem_1', 'x@contractor.example'],
}

describe("the organisation's rules", () => {
  test('of each key the first that holds decides', () => {
    expect(tagsByRules(rules, facts)).toEqual({ tenant: 'acme', project: 'billing-api', team: 'platform' })
    expect(tagsByRules([...rules].reverse(), facts)).toEqual({ tenant: 'acme', project: 'rest', team: 'data' })
  })

  test.each([
    ['all conditions must hold', { directory: ['/home/anna/globex/x'] }, {}],
    ['both hold', { directory: ['/home/anna/globex/x'], machine: ['mac_1', 'ci-7'] }, { tenant: 'globex' }],
    ['a pattern matches the whole', { directory: ['/srv/home/anna/globex/x'], machine: ['ci-7'] }, {}],
    ['a variable has the value', { environment: { CLIENT: 'acme' } }, { tenant: 'acme' }],
    ['another variable', { environment: { CLIENTS: 'acme' } }, {}],
    ['no variable', { environment: { CLIENT: undefined } }, {}],
    ['case counts', { repository: ['Billing-api'] }, { team: 'data', project: 'rest' }],
    ['nothing known', {}, {}],
  ] as [string, SessionFacts, object][])('%s', (_what, known, tags) => {
    expect(tagsByRules(rules, known)).toEqual(tags)
  })

  test('a rule without a condition, or with one of a later version, holds nothing', () => {
    const odd = [
      { when: {}, set: { tenant: 'acme' } },
      { when: { branch: '*' } as never, set: { tenant: 'acme' } },
    ]
    expect(tagsByRules(odd, facts)).toEqual({})
  })
})

describe('who is asked first', () => {
  test('the run, then the parent, then the repository, then the organisation; key by key', () => {
    const all = attribute({
      run: { tenant: 'run' },
      parent: { tags: { tenant: 'parent', project: 'parent' }, from: {} },
      repository: { tenant: 'file', project: 'file', team: 'file' },
      rules: [{ when: { repository: '*' }, set: { tenant: 'rule', project: 'rule', team: 'rule', stage: 'rule' } }],
      facts,
    })
    expect(all).toEqual({
      tags: { tenant: 'run', project: 'parent', team: 'file', stage: 'rule' },
      from: { tenant: 'run', project: 'parent', team: 'repository', stage: 'organisation' },
    })
  })

  test('a child in another place belongs where its parent does', () => {
    const parent = attribute({ rules, facts })
    const child = attribute({ parent, rules, facts: { repository: ['elsewhere'] } })
    expect(child.tags).toEqual(parent.tags)
    expect(attribute({ parent: NOT_ATTRIBUTED, rules, facts }).tags).toEqual(parent.tags)
  })
})

test('a boundary for a tenant is judged by the attribution of the session', () => {
  const { rules: boundaries } = parseBoundaries(
    'boundaries:\n  - name: a\n    action: continue\n    when: { session_cost_usd: ">= 1" }\n    require: deny\n    stage: enforce\n    for: { tenants: [acme] }\n',
    { scope: 'organisation' },
  )
  const compiled = compileRules(mergeRules({ organisation: boundaries }))
  const outcome = (tags: Record<string, string>) =>
    compiled.decide({
      action: 'continue',
      now: 0,
      attribution: boundaryAttribution(tags, 'mac_1'),
      figures: [{ name: 'session_cost_usd', value: 2_000_000, source: 'event', observedAt: 0, maxAge: 1000 } as never],
    }).outcome.kind
  expect([outcome({ tenant: 'acme' }), outcome({ tenant: 'globex' })]).toEqual(['deny', 'pass'])
})

describe('what leaves the machine', () => {
  const lists = { tenant: ['acme'], project: [], team: ['data'] }

  test('is listed values of listed keys; other keys are not even named', () => {
    const { tags, unlisted } = listedTags({ tenant: 'acme', project: 'secret', customer: 'x', toString: 'y' }, lists)
    expect([tags, unlisted]).toEqual([{ tenant: 'acme' }, ['project']])
  })

  test('is nothing that is on no list, whatever the tags', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom('tenant', 'project', 'team', 'x'), fc.constantFrom('acme', 'data', 'y')),
        tags => {
          const sent = listedTags(tags, lists)
          for (const [key, value] of Object.entries(sent.tags)) expect(lists[key as 'team']).toContain(value)
          for (const key of sent.unlisted) expect(Object.keys(lists)).toContain(key)
        },
      ),
    )
  })

  test('the share that is on no list is told by key and day', () => {
    const call = {
      key: 'a',
      client: 'codex',
      provider: 'openai',
      model: 'm',
      tokens: ONE,
      tags: {},
      covered: 'plan',
      rate: 'card',
      long: false,
    } as const
    const days = unlistedByDay([
      { ...call, atMs: DAY, picoUsd: 5n * 10n ** 11n, unlisted: ['project', 'team'] },
      { ...call, atMs: DAY + 1, picoUsd: 25n * 10n ** 10n, unlisted: ['team'] },
      { ...call, atMs: DAY, picoUsd: 10n ** 12n },
    ])
    expect([...days]).toEqual([['2026-11-29', { project: '0.5', team: '0.75' }]])
  })

  test.each([
    [0n, 10n, 0],
    [1n, 10_000n, 1],
    [5n, 10n, 50],
    [9_999n, 10_000n, 99],
    [10n, 10n, 100],
    [0n, 0n, 0],
  ])('%d of %d is %d percent', (part, whole, pct) => {
    expect(sharePct(part, whole)).toBe(pct)
  })
})

describe("a repository's file", () => {
  test('says to whom its work belongs', () => {
    expect(parseRepositoryFile('tags: { tenant: acme, cost-center: 4711 }\n')).toEqual({
      tags: { tenant: 'acme', 'cost-center': '4711' },
      errors: [],
      warnings: [],
    })
    expect(parseRepositoryFile('')).toEqual({ tags: {}, errors: [], warnings: [] })
  })

  test.each([
    ['tags:\n  tenant: Acme Corp\n', 2, 11, 'write tenant: acme-corp'],
    ['tags:\n  Tenant: acme\n', 2, 3, 'lower-case'],
    ['tags:\n  tenant: acme\n  tenant: globex\n', 3, 3, 'keep one'],
    ['tags: [acme]\n', 1, 7, 'write tags: { tenant: acme }'],
    ['tags:\n  tenant: [acme]\n', 2, 11, 'lower-case'],
    ['tags: &a { tenant: acme }\n', 1, 10, 'write the value out'],
    ['tag: { tenant: acme }\n', 1, 1, 'did you mean tags?'],
  ])('%j is refused at its place', (text, line, column, remedy) => {
    const read = parseRepositoryFile(text)
    expect(read.errors[0]).toMatchObject({ line, column })
    expect(read.errors[0]!.remedy).toContain(remedy)
    expect(read.tags).toEqual({})
  })

  test('of another program’s section is only warned about', () => {
    expect(parseRepositoryFile('tags: { tenant: acme }\nsomething: 1\n')).toMatchObject({
      tags: { tenant: 'acme' },
      errors: [],
      warnings: [{ line: 2, column: 1 }],
    })
  })
})

test('tags of a run are taken one by one, and what is wrong is said', () => {
  expect(parseRunTags(' tenant=acme , project = x,,team=data,team=platform')).toEqual({
    tags: { tenant: 'acme', project: 'x', team: 'platform' },
    problems: [],
  })
  const wrong = parseRunTags('acme,Tenant=a,=b,project=Big Project')
  expect(wrong.tags).toEqual({})
  expect(wrong.problems).toEqual([
    'acme has no =; write tenant=acme',
    "Tenant is not a tag's key",
    "nothing is not a tag's key",
    'project cannot be "Big Project": write project: big-project',
  ])
})

test('one map of tags has one text, and it reads back', () => {
  fc.assert(
    fc.property(anyTags, tags => {
      const turned = Object.fromEntries(Object.entries(tags).reverse())
      expect(tagsKey(turned)).toBe(tagsKey(tags))
      expect(tagsFromKey(tagsKey(tags))).toEqual(tags)
    }),
  )
})

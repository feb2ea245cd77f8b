import { readFileSync } from 'node:fs'
import { beforeAll, expect, it } from 'vitest'
import { FOCUS_DAYS_MAX } from '#core/limits.ts'
import { makeToken } from '#core/token.ts'
import * as programs from '#server/api/program-doors.ts'
import { makeApiToken } from '#server/features/api-token.ts'
import { takeUsage } from '#server/features/usage/take.ts'
import { ask } from '#test/support/connector.ts'
import { useDatabase } from '#test/support/db.ts'
import { actorOf, contextOf, makeMachine, makeOrganisation, random, serverEnvironment } from '#test/support/makers.ts'
import { bucketOf, dayOf, signUsage, uploadOf } from '#test/support/usage.ts'

/** The description that programs are written by says what the doors do. */
type Schema = { [key: string]: unknown }
type Parameter = { name: string; in: string; schema: { enum?: string[]; default?: string } }
const text = readFileSync('public/openapi.json', 'utf8')
const api = JSON.parse(text) as {
  paths: Record<string, { get: { parameters: (Parameter | { $ref: string })[]; responses: Record<string, unknown> } }>
}
const db = useDatabase()
let token: string

beforeAll(async () => {
  serverEnvironment()
  const org = await makeOrganisation(db.prisma)
  token = (
    await makeApiToken(contextOf(db.prisma, actorOf(org, org.ownerId, 'owner')), { name: 'x', scopes: ['spend.read'] })
  ).token
  const machine = await makeMachine(db.prisma, org, org.ownerId)
  await takeUsage(contextOf(db.prisma, machine.actor), {
    usage: signUsage(machine, uploadOf(machine, 1, [dayOf('2026-11-01', [bucketOf({ tags: { tenant: 'acme' } })])])),
  })
})

const at = (ref: string): Schema =>
  ref
    .slice(2)
    .split('/')
    .reduce<Schema>((node, key) => node[key] as Schema, api as unknown as Schema)
const DOORS = { '/api/v1/spend': programs.getSpend, '/api/v1/focus': programs.getFocus }
const parametersOf = (path: string) =>
  api.paths[path]!.get.parameters.filter((one): one is Parameter => 'name' in one && one.in === 'query')

/** What of a value does not fit its schema; nothing where all does. As much of JSON Schema as the description uses. */
function misfits(value: unknown, schema: Schema, place = ''): string[] {
  if (typeof schema.$ref === 'string') return misfits(value, at(schema.$ref), place)
  const faults: string[] = []
  const types = [schema.type ?? []].flat() as string[]
  const type =
    value === null ? 'null' : Array.isArray(value) ? 'array' : Number.isInteger(value) ? 'integer' : typeof value
  if (types.length > 0 && !types.includes(type)) faults.push(`${place} is ${type}`)
  if ('const' in schema && schema.const !== value) faults.push(`${place} is ${value}`)
  if (schema.enum && !(schema.enum as unknown[]).includes(value)) faults.push(`${place} is ${value}`)
  if (schema.pattern && !new RegExp(schema.pattern as string).test(String(value))) faults.push(`${place} is ${value}`)
  if (Array.isArray(value) && schema.items)
    faults.push(...value.flatMap((item, i) => misfits(item, schema.items as Schema, `${place}[${i}]`)))
  if (type === 'object')
    for (const name of (schema.required as string[] | undefined) ?? [])
      if (!Object.hasOwn(value as object, name)) faults.push(`${place}.${name} is missing`)
  if (type === 'object' && schema.additionalProperties)
    for (const [name, part] of Object.entries(value as object))
      faults.push(...misfits(part, schema.additionalProperties as Schema, `${place}.${name}`))
  if (type === 'object' && schema.properties) {
    const properties = schema.properties as Record<string, Schema>
    for (const [name, part] of Object.entries(value as object))
      if (properties[name]) faults.push(...misfits(part, properties[name], `${place}.${name}`))
      else faults.push(`${place}.${name} is not described`)
  }
  return faults
}

it('describes both doors, and each parameter that they take', async () => {
  expect(Object.keys(api.paths)).toEqual(Object.keys(DOORS))
  for (const [path, door] of Object.entries(DOORS)) {
    const refused = (await (await ask(door, { token, query: '?nothing=1' })).json()) as { error: { remedy: string } }
    const taken = refused.error.remedy.replace(/^Those are |\.$/g, '').split(', ')
    expect(
      parametersOf(path)
        .map(({ name }) => name)
        .sort(),
    ).toEqual(taken.sort())
  }
  expect(text).toContain(`${FOCUS_DAYS_MAX} days at most`)
})

it('every choice that it names is taken, and no other', async () => {
  for (const [path, door] of Object.entries(DOORS))
    for (const { name, schema } of parametersOf(path)) {
      const base = path.endsWith('focus') ? 'month=2026-11' : 'from=2026-11-01&to=2026-11-02'
      for (const choice of schema.enum ?? [])
        expect((await ask(door, { token, query: `?${base}&${name}=${choice}` })).status, `${name}=${choice}`).toBe(200)
      if (schema.enum) expect((await ask(door, { token, query: `?${base}&${name}=other` })).status).toBe(400)
    }
})

it('the report is as it is described, cut by days too', async () => {
  const response = await ask(programs.getSpend, { token, query: '?from=2026-11-01&to=2026-11-03&by=tenant&step=day' })
  const report = (await response.json()) as { rows: unknown[]; steps: unknown[] }
  expect([report.rows.length, report.steps.length]).toEqual([2, 1])
  expect(misfits(report, at('#/components/schemas/Report'))).toEqual([])
})

it('refusals are as they are described', async () => {
  const { schema } = (at('#/components/responses/Refused').content as Record<string, { schema: Schema }>)[
    'application/json'
  ]!
  for (const [query, bearer, status] of [
    ['?month=x', token, 400],
    ['', makeToken('api', random(32)), 401],
    ['?from=2020-01-01&to=2026-01-01', token, 413],
  ] as const) {
    const response = await ask(programs.getFocus, { token: bearer, query })
    expect([response.status, misfits(await response.json(), schema)]).toEqual([status, []])
    expect(Object.keys(api.paths['/api/v1/focus']!.get.responses)).toContain(String(status))
  }
})

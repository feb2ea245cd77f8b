import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { opencode } from '#agent/clients/opencode/opencode.ts'
import { UNJUDGED } from '#agent/clients/opencode/plugin/installed.ts'
import { sql } from '#test/agent/sqlite/shell.ts'

const AT = Date.parse('2026-11-30T20:30:00Z')
const TABLES = readFileSync('test/clients/payloads/opencode/database.sql', 'utf8')
  .split('\n')
  .filter(line => !line.startsWith('INSERT'))
  .join('\n')

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'holdpoint-opencode-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const quoted = (value: unknown) => `'${JSON.stringify(value).replaceAll("'", "''")}'`
const hexTime = (ms: number) => ((BigInt(ms) * 4096n) % 2n ** 48n).toString(16).padStart(12, '0')
const session = (id: string, parent?: string) =>
  `insert into session(id, project_id, parent_id, slug, directory, title, version, time_created, time_updated)
   values ('${id}', 'global', ${parent ? `'${parent}'` : 'null'}, 'a', '/work', 't', '1.18.33', ${AT}, ${AT});`
/** An answer; `madeAt`: when its row was, which for a fork's copy is after it ended. */
function answer(of: string, ms: number, parts: object[], madeAt = ms): string {
  const id = `msg_${hexTime(madeAt)}aaaaaaaaaaaaaa`
  const data = {
    role: 'assistant',
    modelID: 'm',
    providerID: 'p',
    tokens: {},
    time: { created: ms, completed: ms + 10 },
  }
  const rows = parts.map((part, n) => {
    return `insert into part values ('prt_${hexTime(madeAt)}${n}${of}', '${id}', '${of}', ${ms}, ${ms}, ${quoted(part)});`
  })
  return [`insert into message values ('${id}', '${of}', ${ms}, ${ms}, ${quoted(data)});`, ...rows].join('\n')
}
const tool = (callID: string, state: object, name = 'bash', more = {}) => ({
  type: 'tool',
  tool: name,
  callID,
  state,
  ...more,
})
const done = (status: string, more = {}) => ({ status, input: {}, ...more, time: { start: AT + 5, end: AT + 9 } })

function read(statements: string[], sessionId = 'ses_a') {
  const path = join(dir, '.local/share/opencode/opencode.db')
  mkdirSync(dirname(path), { recursive: true })
  sql(path, [TABLES, session('ses_a'), session('ses_b', 'ses_a'), session('ses_c'), ...statements].join('\n'))
  const price = () => ({ picoUsd: 1n, fallback: false })
  const home = { homeDir: dir, env: {} }
  const { toolUses, toolResults } = opencode.usage.readSession(home, { sessionId }, undefined, { rateCard: 'a', price })
  return {
    uses: toolUses.map(({ toolUseId, toolName, agentId }) => [toolUseId, toolName, agentId]),
    results: toolResults.map(({ toolUseId, outcome }) => [toolUseId, outcome]),
    toolUses,
    toolResults,
  }
}

test('calls are told with the id that the hook had, those of subagents as theirs, and how they ended', () => {
  const { uses, results, toolUses, toolResults } = read([
    answer('ses_a', AT, [
      tool('call_1', done('completed', { output: 'x' })),
      tool('functions.bash:0', done('completed', { output: 'x' })),
      tool('call_2', { status: 'running', input: {}, time: { start: AT + 5 } }),
    ]),
    answer('ses_b', AT + 100, [tool('call_3', done('error', { error: 'ENOENT: no such file' }), 'read')]),
  ])
  expect(uses).toEqual([
    ['call_1', 'bash', undefined],
    ['functions_bash_0', 'bash', undefined],
    ['call_2', 'bash', undefined],
    ['call_3', 'read', 'ses_b'],
  ])
  expect(results).toEqual([
    ['call_1', 'ran'],
    ['functions_bash_0', 'ran'],
    ['call_3', 'ran'],
  ])
  expect(toolUses[0]).toMatchObject({ atMs: AT + 5 })
  expect(toolResults[0]).toMatchObject({ atMs: AT + 9 })
})

test('what did not run is no call that nobody judged', () => {
  const error = (text: string) => done('error', { error: text })
  const { results } = read([
    answer('ses_a', AT, [
      tool('call_1', error('The user rejected permission to use this specific tool call.')),
      tool(
        'call_2',
        error('The user has specified a rule which prevents you from using this specific tool call. [...]'),
      ),
      tool('call_3', error(`${UNJUDGED}: its daemon is not running. …`)),
      tool('call_4', done('completed', { output: 'unavailable tool' }), 'invalid'),
      // long as what it was given is, why it was refused stands behind it
      tool(
        'call_5',
        { ...done('error', { input: { content: 'x'.repeat(40_000) } }), error: `${UNJUDGED}: …` },
        'write',
      ),
    ]),
  ])
  expect(results.map(([, outcome]) => outcome)).toEqual(['declined', 'refused', 'refused', 'refused', 'refused'])
})

test('a long output is not read, and its call is told all the same', () => {
  const { uses, results, toolUses } = read([
    answer('ses_a', AT, [tool('call_1', { ...done('completed'), output: 'y'.repeat(200_000) })]),
  ])
  expect([uses, results]).toEqual([[['call_1', 'bash', undefined]], [['call_1', 'ran']]])
  expect(toolUses[0]!.atMs).toBe(AT)
})

test('what a fork has copied was another session’s, and what runs where the model is has no hook', () => {
  const call = tool('call_1', done('completed'))
  const elsewhere = tool('call_2', done('completed'), 'web_search', { metadata: { providerExecuted: true } })
  expect(
    read([answer('ses_c', AT, [call], AT + 60_000), answer('ses_c', AT + 90_000, [elsewhere])], 'ses_c').uses,
  ).toEqual([])
})

test('a command that starts a subagent is known by its part, as its hook names it', () => {
  const { uses } = read([answer('ses_a', AT, [tool('01KB8Z6M3Q7Y9V2T4R5W6X8Z0A', done('completed'), 'task')])])
  expect(uses).toEqual([[expect.stringMatching(/^prt_/), 'task', undefined]])
})

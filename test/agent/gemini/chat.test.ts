import { execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { ClientHome } from '#agent/clients/client-home.ts'
import { type GeminiUsageState, usageTokens } from '#agent/clients/gemini/chat.ts'
import { gemini } from '#agent/clients/gemini/gemini.ts'
import type { SessionUsage } from '#agent/clients/usage-source.ts'
import { pricingFrom } from '#agent/pricing/rate-card.ts'
import { picoToUsd, type UsageTokens } from '#core/pricing.ts'
import { builtInRates } from '#core/rate-card/built-in.ts'

const PAYLOADS = join(import.meta.dirname, '../../clients/payloads/gemini')
const recorded = (name: string): Record<string, object[]> =>
  JSON.parse(fs.readFileSync(join(PAYLOADS, `chats.${name}.json`), 'utf8')).files
const ID = '00000000-0000-4000-8000-000000000001'
const CWD = '/home/dev/project'
const HASH = createHash('sha256').update(CWD).digest('hex')
const NAME = 'session-2026-11-30T12-00-00000000.jsonl'
const pricing = pricingFrom(builtInRates())

let dir: string
let home: ClientHome
let project: string
let file: string
beforeEach(() => {
  dir = fs.mkdtempSync(join(tmpdir(), 'holdpoint-gemini-'))
  home = { homeDir: dir, env: {} }
  project = join(dir, '.gemini/tmp/project')
  file = join(project, 'chats', NAME)
  fs.mkdirSync(dirname(file), { recursive: true })
})
afterEach(() => fs.rmSync(dir, { recursive: true, force: true }))

type Usage = SessionUsage<GeminiUsageState>
/** Reads as a collector does that was restarted in between: only the marks are kept, and as JSON. */
function read(
  before?: Usage,
  { sessionId = ID, bytes = undefined as number | undefined, transcriptPath = undefined as string | undefined } = {},
): Usage {
  const state = before && (JSON.parse(JSON.stringify(gemini.usage.marksOf(before.state))) as GeminiUsageState)
  return gemini.usage.readSession(
    home,
    { sessionId, transcriptPath },
    state,
    pricing,
    bytes === undefined ? undefined : { bytes },
  )
}
const text = (lines: object[]) => lines.map(line => `${JSON.stringify(line)}\n`).join('')
const write = (lines: object[], path = file) => {
  fs.mkdirSync(dirname(path), { recursive: true })
  fs.writeFileSync(path, text(lines))
}
const append = (...lines: object[]) => fs.appendFileSync(file, text(lines))
const writeAll = (files: Record<string, object[]>) => {
  for (const [name, lines] of Object.entries(files)) write(lines, join(project, 'chats', name))
}
const short = ({ input, cacheRead, output }: UsageTokens) => [input, cacheRead, output]
const counts = ({ records }: Usage) => records.map(({ tokens }) => short(tokens))

let n = 0
const head = (more: object = {}) => ({
  sessionId: ID,
  projectHash: HASH,
  startTime: '2026-11-30T12:00:00.000Z',
  kind: 'main',
  ...more,
})
const message = (tokens: object | undefined, more: object = {}) => ({
  id: `message-${++n}`,
  timestamp: '2026-11-30T12:00:00.000Z',
  type: 'gemini',
  content: 'x',
  ...(tokens ? { tokens } : {}),
  model: 'gemini-2.5-flash',
  ...more,
})

describe('recorded chats', () => {
  test('each answer counts once, though its line comes again and a resumed session writes its history anew', () => {
    writeAll(recorded('resumed'))
    const usage = read()
    expect(counts(usage)).toEqual([
      [900_000, 2000, 39],
      [910_000, 0, 3],
      [12, 0, 5],
      [12, 0, 5],
    ])
    expect(usage).toMatchObject({ fresh: true, more: false, fallback: false, model: 'gemini-2.5-flash' })
    // input 1,810,024 at 0.3, read 2000 at 0.03, output 52 at 2.5 dollars a million
    expect(picoToUsd(usage.costPicoUsd!)).toBe('0.5431972')
  })

  test('subagents’ answers belong to their session and name their agent', () => {
    writeAll(recorded('subagent'))
    const { records } = read()
    const own = records.filter(({ agentId }) => agentId === undefined)
    expect([own.length, records.length]).toEqual([2, 6])
    expect(new Set(records.map(({ key }) => key)).size).toBe(6)
  })

  test('no text of theirs is in the state or the result', () => {
    writeAll(recorded('subagent'))
    append(message({ input: 5 }, { content: 'SECRET', toolCalls: [{ args: { a: 'SECRET' } }] }))
    expect(JSON.stringify(read(), (_, v) => (typeof v === 'bigint' ? `${v}` : v))).not.toMatch(/SECRET|\(cut\)/)
  })
})

describe('the client’s counts on disjoint axes', () => {
  const of = (tokens: object) => short(usageTokens(tokens as Record<string, unknown>))
  test.each([
    [
      'cached ones are inside the input',
      { input: 100, output: 5, cached: 60, thoughts: 0, tool: 0, total: 105 },
      [40, 60, 5],
    ],
    [
      'thoughts are beside the output',
      { input: 100, output: 5, cached: 0, thoughts: 7, tool: 0, total: 112 },
      [100, 0, 12],
    ],
    [
      'what tools brought is beside the input',
      { input: 100, output: 5, cached: 60, thoughts: 7, tool: 9, total: 121 },
      [49, 60, 12],
    ],
    [
      'unless the total says that thoughts are inside',
      { input: 100, output: 12, thoughts: 7, tool: 0, total: 112 },
      [100, 0, 12],
    ],
    ['and that tools are inside', { input: 109, output: 5, thoughts: 7, tool: 9, total: 121 }, [109, 0, 12]],
    ['and that both are', { input: 109, output: 12, thoughts: 7, tool: 9, total: 121 }, [109, 0, 12]],
    [
      'a total that fits nothing takes nothing away',
      { input: 100, output: 5, thoughts: 7, tool: 9, total: 3 },
      [109, 0, 12],
    ],
    ['no total at all', { input: 100, output: 5, thoughts: 7 }, [100, 0, 12]],
    ['more cached than read: nothing is taken off', { input: 10, cached: 60, output: 1, total: 11 }, [10, 60, 1]],
    [
      'negative and broken counts are none',
      { input: -10, cached: '60', output: 1.5, thoughts: null, total: {} },
      [0, 0, 0],
    ],
  ])('%s', (_, tokens, expected) => {
    expect(of(tokens)).toEqual(expected)
  })
})

describe('one answer', () => {
  test('counts with the largest of what was told of it, and two ids are two', () => {
    write([
      head(),
      message({ input: 5, output: 1 }, { id: 'a' }),
      message({ input: 5, output: 9 }, { id: 'a' }),
      message({ input: 5, output: 9 }, { id: 'b' }),
    ])
    expect(read().records.map(({ key, tokens }) => [key, tokens.output])).toEqual([
      ['a', 9],
      ['b', 9],
    ])
  })

  test('without a model of its own is one of the model before it, else nobody’s', () => {
    write([
      head(),
      message({ input: 1 }, { model: undefined }),
      message({ input: 2 }),
      message({ input: 3 }, { model: undefined }),
    ])
    expect(read().records.map(({ model }) => model)).toEqual(['unknown', 'gemini-2.5-flash', 'gemini-2.5-flash'])
  })

  test('that was taken back by a rewind, or is left out of a compressed history, was paid all the same', () => {
    write([head(), message({ input: 1 }, { id: 'a' })])
    const first = read()
    append({ $rewindTo: 'a' }, { $set: { messages: [message({ input: 7 }, { id: 'c' }), message(undefined)] } })
    expect([...counts(first), ...counts(read(first))]).toEqual([
      [1, 0, 0],
      [7, 0, 0],
    ])
  })

  test('text that looks like one counts nothing', () => {
    const fake = message({ input: 999 })
    write([head(), message(undefined, { content: JSON.stringify(fake), toolCalls: [{ args: fake }] })])
    expect(read().records).toEqual([])
  })
})

describe('a conversation that is one document', () => {
  const document = (messages: object[]) => JSON.stringify({ ...head(), messages }, null, 2)
  const old = () => file.replace('.jsonl', '.json')

  test('is read where it changed, and each answer counts once', () => {
    const messages = [message(undefined, { type: 'user' }), message({ input: 5, output: 1, total: 6 })]
    fs.writeFileSync(old(), document(messages))
    const first = read()
    expect(counts(first)).toEqual([[5, 0, 1]])
    expect(read(first).records).toEqual([])
    fs.writeFileSync(old(), document([...messages, message({ input: 6, output: 2, total: 8 })]))
    expect(counts(read(first))).toContainEqual([6, 0, 2])
  })

  test('that is half-written loses nothing: it is read when it is whole', () => {
    const whole = document([message({ input: 5, output: 1, total: 6 })])
    fs.writeFileSync(old(), whole.slice(0, -20))
    const first = read()
    expect(first).toMatchObject({ records: [], fresh: true })
    fs.writeFileSync(old(), whole)
    expect(counts(read(first))).toEqual([[5, 0, 1]])
  })

  test('that is written anew while it is read comes to all of its answers', async () => {
    const answers = 150
    const writer = `
      const fs = require('node:fs')
      const messages = []
      const pad = 'x'.repeat(4000)
      for (let i = 0; i < ${answers}; i++) {
        messages.push({ id: 'm' + i, type: 'gemini', content: pad, model: 'gemini-2.5-flash', tokens: { input: i + 1, total: i + 1 } })
        fs.writeFileSync(process.argv[1], JSON.stringify({ sessionId: '${ID}', projectHash: '${HASH}', messages }))
      }`
    const child = spawn(process.execPath, ['-e', writer, old()], { stdio: 'ignore' })
    const ended = new Promise<void>(resolve => child.once('exit', () => resolve()))
    let running = true
    void ended.then(() => {
      running = false
    })
    const inputs = new Map<string, number>()
    let usage: Usage | undefined
    const look = () => {
      usage = read(usage)
      for (const { key, tokens } of usage.records) inputs.set(key, tokens.input)
    }
    while (running) {
      look()
      await new Promise(resolve => setImmediate(resolve))
    }
    look()
    expect([...inputs.values()].reduce((a, b) => a + b, 0)).toBe((answers * (answers + 1)) / 2)
    expect(inputs.size).toBe(answers)
  })

  test('and goes on as lines when it is resumed: the same ids', () => {
    const messages = [message({ input: 5, output: 1, total: 6 })]
    fs.writeFileSync(old(), document(messages))
    write([head(), ...messages, message({ input: 6, output: 2, total: 8 })])
    expect(counts(read())).toEqual([
      [5, 0, 1],
      [6, 0, 2],
    ])
  })

  test('that is larger than is read is told, and the rest is read', () => {
    fs.writeFileSync(old(), document([]))
    fs.truncateSync(old(), 65 * 1024 * 1024)
    write([head(), message({ input: 6 })])
    expect(read()).toMatchObject({ fresh: false, problem: 'too_large', records: [{ tokens: { input: 6 } }] })
  })
})

describe('reading on', () => {
  test('every split of the bytes gives the same answers', () => {
    const lines = recorded('resumed')[NAME.replace('12-00', '19-55')] as object[]
    write(lines)
    const expected = counts(read())
    expect(expected).toHaveLength(4)
    const bytes = Buffer.from(text(lines))
    for (let at = 1; at < bytes.length; at += 251) {
      fs.writeFileSync(file, bytes.subarray(0, at))
      const first = read()
      fs.appendFileSync(file, bytes.subarray(at))
      const keys = [...first.records, ...read(first).records].map(({ key }) => key)
      expect(new Set(keys).size, `split at ${at}`).toBe(expected.length)
    }
  })

  test('in small pieces comes to the same end, over all files', () => {
    writeAll(recorded('subagent'))
    const expected = new Set(read().records.map(({ key }) => key))
    const found = new Set<string>()
    let usage: Usage | undefined
    do {
      usage = read(usage, { bytes: 512 })
      for (const { key } of usage.records) found.add(key)
    } while (usage.more)
    expect(found).toEqual(expected)
  })

  test('a file that was replaced is read from its start', () => {
    write([head(), message({ input: 5 })])
    const first = read()
    write([head(), message({ input: 6 }), message({ input: 7 })])
    expect(counts(read(first))).toEqual([
      [6, 0, 0],
      [7, 0, 0],
    ])
  })
})

describe('the working folder', () => {
  const cwd = () => read().records[0]?.cwd
  beforeEach(() => write([head(), message({ input: 1 })]))

  test('is what stands beside the chats, where the digest fits', () => {
    fs.writeFileSync(join(project, '.project_root'), CWD)
    expect(cwd()).toBe(CWD)
    fs.writeFileSync(join(project, '.project_root'), '/somewhere/else')
    expect(cwd()).toBeUndefined()
  })

  test('else what the client’s list of projects names by the digest', () => {
    fs.writeFileSync(
      join(dir, '.gemini/projects.json'),
      JSON.stringify({ projects: { '/other': 'other', [CWD]: 'project' } }),
    )
    expect(cwd()).toBe(CWD)
    fs.writeFileSync(join(dir, '.gemini/projects.json'), '{"projects":[')
    expect(cwd()).toBeUndefined()
  })
})

describe('finding the session', () => {
  test('in whatever project it lies, with a hint or without, below GEMINI_CLI_HOME where that is set', () => {
    const there = join(dir, '.gemini/tmp', HASH, 'chats', NAME)
    write([head(), message({ input: 1 })], there)
    expect(read().records).toHaveLength(1)
    expect(read(undefined, { transcriptPath: there }).records).toHaveLength(1)
    expect(read(undefined, { transcriptPath: '/etc/../../x' }).records).toHaveLength(1)
    home = { homeDir: '/nonexistent', env: { GEMINI_CLI_HOME: dir } }
    expect(read().records).toHaveLength(1)
  })

  test('in all the files of its id: a resumed one leaves a second file', () => {
    write([head(), message({ input: 1 })])
    const first = read()
    write([head(), { $set: { messages: [message(undefined)] } }], file.replace('12-00', '12-01'))
    append(message({ input: 2 }))
    expect(counts(read(first))).toEqual([[2, 0, 0]])
    expect([...gemini.usage.changedSessions(home, 0)].flat().map(({ sessionId }) => sessionId)).toEqual([ID])
  })

  test('by its whole id, not by the beginning that its file is named by', () => {
    write([head(), message({ input: 1 })])
    expect(read(undefined, { sessionId: ID.replace(/1$/, '2') })).toMatchObject({
      problem: 'no_transcript',
      records: [],
    })
  })

  test('by when its chats or its subagents’ changed', () => {
    const found = (sinceMs: number) => [...gemini.usage.changedSessions(home, sinceMs)].flat()
    write([head(), message({ input: 1 })])
    expect(found(0)).toMatchObject([{ sessionId: ID, transcriptPath: file }])
    const later = Date.now() + 3600_000
    expect(found(later)).toEqual([])
    const sub = join(project, 'chats', ID, 'agent-1.jsonl')
    write([head({ kind: 'subagent' }), message({ input: 2 })], sub)
    fs.utimesSync(sub, later / 1000 + 1, later / 1000 + 1)
    expect(found(later)).toMatchObject([{ sessionId: ID }])
    fs.rmSync(file)
    expect(found(0)).toMatchObject([{ sessionId: ID, transcriptPath: sub }])
    expect(read().records).toMatchObject([{ agentId: 'agent-1' }])
  })

  test('not before its file has a head', () => {
    fs.writeFileSync(file, '{"sess')
    expect([...gemini.usage.changedSessions(home, 0)].flat()).toEqual([])
  })
})

describe('a file that may not be read', () => {
  test.each([
    ['a link', (path: string) => fs.symlinkSync('/etc/hostname', path)],
    ['a pipe', (path: string) => execFileSync('mkfifo', [path])],
    ['a folder', (path: string) => fs.mkdirSync(path)],
  ])('%s in its place is neither followed nor waited for', (_, make) => {
    make(file)
    expect(read()).toMatchObject({ problem: 'no_transcript', records: [] })
    expect([...gemini.usage.changedSessions(home, 0)].flat()).toEqual([])
  })

  test('a link in a subagent’s place is told, and the rest counts', () => {
    write([head(), message({ input: 1 })])
    fs.mkdirSync(join(project, 'chats', ID))
    fs.symlinkSync('/etc/hostname', join(project, 'chats', ID, 'agent-1.jsonl'))
    expect(read()).toMatchObject({ fresh: false, problem: 'not_a_file', records: [{ tokens: { input: 1 } }] })
  })

  test('linked folders are not followed', () => {
    write([head(), message({ input: 1 })])
    fs.renameSync(project, join(dir, 'elsewhere'))
    fs.symlinkSync(join(dir, 'elsewhere'), project)
    expect(read()).toMatchObject({ problem: 'no_transcript' })
    expect([...gemini.usage.changedSessions(home, 0)].flat()).toEqual([])
  })

  test('a session id that leads elsewhere is not taken', () => {
    for (const sessionId of ['..', '', 'a/b', '.'])
      expect(read(undefined, { sessionId })).toMatchObject({ problem: 'no_transcript' })
  })
})

describe('calls of tools', () => {
  const saying = (...toolCalls: object[]) => ({
    id: 'm1',
    timestamp: '2026-11-30T19:38:01.591Z',
    type: 'gemini',
    model: 'gemini-2.5-flash',
    tokens: { input: 1, output: 1, cached: 0, thoughts: 0, tool: 0, total: 2 },
    toolCalls,
  })
  const call = (id: string, status: string, name = 'run_shell_command') => ({
    id,
    name,
    status,
    timestamp: '2026-11-30T19:38:04.457Z',
    args: { command: 'SECRET' },
  })

  test('are told once they have ended, a subagent’s with its name, and how; the end of a subagent is none', () => {
    writeAll(recorded('subagent'))
    const { toolUses, toolResults } = read()
    expect(toolUses.map(({ toolName, agentId }) => [toolName, agentId])).toEqual([
      ['invoke_agent', undefined],
      ['run_shell_command', '00000000-0000-4000-8000-000000000004'],
    ])
    expect(toolResults.map(({ toolUseId, outcome }) => [toolUseId, outcome])).toEqual(
      toolUses.map(({ toolUseId }) => [toolUseId, 'ran']),
    )
  })

  test('that failed, were refused or taken back are told of as not run; what is odd is not told', () => {
    write([
      { sessionId: ID, projectHash: HASH, kind: 'main' },
      saying(call('a', 'success'), call('b', 'error'), call('c', 'cancelled'), call('d', 'executing'), { id: 7 }),
    ])
    const { toolUses, toolResults } = read()
    expect(toolResults.map(({ toolUseId, outcome }) => `${toolUseId} ${outcome}`)).toEqual([
      'a ran',
      'b refused',
      'c declined',
    ])
    expect(JSON.stringify([toolUses, toolResults])).not.toContain('SECRET')
  })
})

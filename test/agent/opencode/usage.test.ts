import { chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { opencode } from '#agent/clients/opencode/opencode.ts'
import type { OpencodeUsageState } from '#agent/clients/opencode/usage.ts'
import { OpenDatabase, sql } from '#test/agent/sqlite/shell.ts'
import { axes, readUsage } from '#test/clients/read-usage.ts'

/** What the real client has left: a session, a fork of it, one with a subagent and an error, one that was stopped. */
const recorded = (name: string) => readFileSync(join('test/clients/payloads/opencode', name), 'utf8')
const FIRST = 'ses_dd1f00720ffeSki02Za1Y5kxBG'
const FORK = 'ses_dd1eff8cdffeGynobvNFpsImvL'
const TASK = 'ses_dd1eff707ffeE34qoCsSGurOOv'
/** What the model server had served by then, titles left out. */
const SERVED = [
  'input 100, cacheRead 30, output 40',
  'input 200, cacheRead 50, output 7',
  'input 101, cacheRead 31, cacheWrite5m 26, output 41',
  'input 201, cacheRead 51, output 8',
  'input 1000, output 11',
  'input 5000, output 21',
  'input 5100, output 22',
  'input 1100, output 12',
  'input 31, output 32',
  // what compacting used
  'input 12, output 64',
]
const AT = Date.parse('2026-11-30T20:30:00Z')
const DAY_MS = 24 * 3600_000

let dir: string
let home: string
let open: OpenDatabase | undefined
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'holdpoint-opencode-'))
  home = join(dir, 'dev')
})
afterEach(async () => {
  await open?.kill()
  open = undefined
  rmSync(dir, { recursive: true, force: true })
})

const place = (...names: string[]) => join(home, '.local/share/opencode', ...names)
function database(statements: string, path = place('opencode.db')): string {
  mkdirSync(dirname(path), { recursive: true })
  sql(path, statements)
  return path
}
const read = (env: Record<string, string> = {}, atMs = AT) => readUsage({ dir, home }, opencode, env, () => atMs)
const told = async (env: Record<string, string> = {}) => (await read(env)).calls.map(({ tokens }) => axes(tokens))

/** Tables without what was recorded. */
const TABLES = recorded('database.sql')
  .split('\n')
  .filter(line => !line.startsWith('INSERT'))
  .join('\n')
const quoted = (value: unknown) => `'${JSON.stringify(value).replaceAll("'", "''")}'`
const hexTime = (ms: number) => ((BigInt(ms) * 4096n) % 2n ** 48n).toString(16).padStart(12, '0')
const idOf = (kind: string, ms: number, end = 'aaaaaaaaaaaaaa') => `${kind}_${hexTime(ms)}${end}`
const session = (id: string, parent?: string) =>
  `insert into session(id, project_id, parent_id, slug, directory, title, version, time_created, time_updated)
   values ('${id}', 'global', ${parent ? `'${parent}'` : 'null'}, 'a', '/work', 't', '1.18.33', ${AT}, ${AT});`
const counts = (input: number, output: number, more = {}) => ({
  input,
  output,
  reasoning: 0,
  cache: { read: 0, write: 0 },
  total: input + output,
  ...more,
})
const answer = (ms: number, tokens: unknown, more = {}) => ({
  role: 'assistant',
  modelID: 'claude-opus-4-6',
  providerID: 'anthropic',
  path: { cwd: '/work', root: '/' },
  tokens,
  time: { created: ms, completed: ms + 10 },
  ...more,
})
const message = (of: string, ms: number, data: unknown, id = idOf('msg', ms)) =>
  `insert into message values ('${id}', '${of}', ${ms}, ${ms}, ${quoted(data)});`
const step = (of: string, ms: number, data: object, id = idOf('prt', ms)) =>
  `insert into part values ('${id}', '${of}', 'ses_a', ${ms}, ${ms}, ${quoted({ type: 'step-finish', ...data })});`

describe('what the real client has recorded', () => {
  test('is every call that was served, once, with its axes apart', async () => {
    database(recorded('database.sql'))
    const { calls, problems } = await read()
    expect(calls.map(({ tokens }) => axes(tokens)).sort()).toEqual([...SERVED].sort())
    expect(problems).toBe(0)
    // read once more, nothing is added
    expect((await read()).calls).toHaveLength(SERVED.length)
  })

  test('calls of a subagent are its session’s, and each bears its model, seller, folder and moment', async () => {
    database(recorded('database.sql'))
    const { calls } = await read()
    const by = (tokens: string) => calls.find(call => axes(call.tokens) === tokens)
    expect(by('input 5000, output 21')).toMatchObject({ subagent: true, place: { session: TASK } })
    expect(by('input 1000, output 11')).toMatchObject({ subagent: false, place: { session: TASK } })
    expect(by('input 101, cacheRead 31, cacheWrite5m 26, output 41')).toMatchObject({
      model: 'claude-opus-4-6',
      provider: 'anthropic',
      atMs: 1796069132218,
      place: { client: 'opencode', session: FORK, directory: '/home/dev/project' },
    })
    expect(by('input 200, cacheRead 50, output 7')).toMatchObject({ model: 'gpt-5.2', provider: 'other' })
  })

  test('what was counted stays when it is taken back or deleted, and what came after is added', async () => {
    database(recorded('database.sql'))
    await read()
    rmSync(place('opencode.db'))
    database(recorded('reverted-deleted.sql'))
    expect((await told()).sort()).toEqual([...SERVED, 'input 77, output 9'].sort())
  })

  test('a fork that is read before what it was made of adds nothing of that', async () => {
    database(recorded('database.sql'))
    const price = () => ({ picoUsd: 1n, fallback: false })
    const keys = (of: string) =>
      opencode.usage.readSession({ homeDir: home, env: {} }, { sessionId: of }, undefined, { rateCard: 'a', price })
        .records
    const [first, fork] = [keys(FIRST), keys(FORK)]
    expect(fork).toHaveLength(4)
    expect(fork.slice(0, 2).map(({ key }) => key)).toEqual(first.slice(0, 2).map(({ key }) => key))
    // a copy does not name itself, or it would be taken for another call of that millisecond
    expect(fork.map(({ requestId }) => requestId !== undefined)).toEqual([false, false, true, true])
    expect(first.every(({ requestId }) => requestId !== undefined)).toBe(true)
  })

  test('read in the smallest pieces it is the same, and what is remembered of it is little', async () => {
    database(recorded('database.sql'))
    const price = () => ({ picoUsd: 7n, fallback: true })
    const whole = opencode.usage.readSession({ homeDir: home, env: {} }, { sessionId: TASK }, undefined, {
      rateCard: 'a',
      price,
    })
    let state: OpencodeUsageState | undefined
    const records = new Map<string, unknown>()
    let rounds = 0
    for (let more = true; more && rounds < 100; rounds++) {
      const part = opencode.usage.readSession(
        { homeDir: home, env: {} },
        { sessionId: TASK },
        state && (structuredClone(opencode.usage.marksOf(state)) as OpencodeUsageState),
        { rateCard: 'a', price },
        { bytes: 1 },
      )
      for (const record of part.records) records.set(record.key, record)
      ;({ state, more } = part)
      expect(part.fresh).toBe(true)
    }
    expect(rounds).toBeLessThan(20)
    expect([...records.values()]).toEqual(whole.records)
    expect(whole.records).toHaveLength(5)
    expect(whole).toMatchObject({ costPicoUsd: 35n, fallback: true, unpricedModels: ['gpt-5.2'], model: 'gpt-5.2' })
    expect(JSON.stringify(opencode.usage.marksOf(state as OpencodeUsageState)).length).toBeLessThan(400)
  })
})

describe('a message', () => {
  const only = async (...statements: string[]) => {
    database(TABLES + session('ses_a') + statements.join('\n'))
    return told()
  }
  const id = idOf('msg', AT)

  test('of several steps is a call each', async () => {
    const steps = [counts(10, 1), counts(20, 2), counts(20, 2)].map((tokens, n) => step(id, AT + n, { tokens }))
    // the message bears the counts of its last step
    expect(await only(message('ses_a', AT, answer(AT, counts(20, 2))), ...steps)).toEqual([
      'input 10, output 1',
      'input 20, output 2',
      'input 20, output 2',
    ])
  })

  test('of an older version has reasoning inside its output', async () => {
    const older = { input: 5, output: 100, reasoning: 60, cache: { read: 1, write: 2 } }
    const between = { ...older, total: 108 }
    const newer = { input: 5, output: 40, reasoning: 60, cache: { read: 1, write: 2 }, total: 108 }
    const stopped = { input: 5, output: 0, reasoning: 100, cache: { read: 1, write: 2 }, total: 7 }
    const all = [older, between, newer, stopped].map((tokens, n) => message('ses_a', AT + n, answer(AT + n, tokens)))
    expect(await only(...all)).toEqual(Array(4).fill('input 5, cacheRead 1, cacheWrite5m 2, output 100'))
  })

  test('that broke off counts with what it says, and is marked so', async () => {
    database(
      TABLES +
        session('ses_a') +
        message('ses_a', AT, answer(AT, counts(9, 3), { error: { name: 'MessageAbortedError' } })) +
        message('ses_a', AT + 1, answer(AT + 1, counts(0, 0), { error: { name: 'APIError' } })),
    )
    const { calls } = await read()
    expect(calls.map(({ tokens, partial }) => [axes(tokens), partial])).toEqual([['input 9, output 3', true]])
  })

  test('that is begun in the same millisecond as another is a call of its own', async () => {
    const other = idOf('msg', AT, 'bbbbbbbbbbbbbb')
    const [a, b] = [
      message('ses_a', AT, answer(AT, counts(9, 3))),
      message('ses_a', AT, answer(AT, counts(9, 3)), other),
    ]
    expect(await only(a, b)).toEqual(['input 9, output 3', 'input 9, output 3'])
  })

  test('of a user, of an unknown kind or that is no JSON counts nothing, and of an unnamed model it counts', async () => {
    const odd = [
      message('ses_a', AT, { ...answer(AT, counts(1, 1)), role: 'user' }),
      `insert into message values ('msg_x', 'ses_a', ${AT + 1}, ${AT + 1}, '{"role":"assistant"');`,
      message('ses_a', AT + 2, answer(AT + 2, { input: -5, output: 'x', reasoning: 1.5 })),
      message('ses_a', AT + 3, answer(AT + 3, counts(4, 4), { modelID: '', providerID: 'some-gateway' })),
    ]
    expect(await only(...odd)).toEqual(['input 4, output 4'])
    const [call] = (await read()).calls
    expect(call).toMatchObject({ model: 'unknown', provider: 'other' })
  })

  test('of the tables of version 2 counts once, whether or not it stands in those of version 1', async () => {
    const later = (ms: number, tokens: object) => ({
      agent: 'build',
      model: { id: 'gpt-5.2', providerID: 'openai' },
      content: [{ type: 'tool', state: { content: 'z'.repeat(20_000) } }],
      tokens,
      time: { created: ms, completed: ms + 5 },
    })
    const insert = (ms: number, tokens: object) =>
      `insert into session_message values ('${idOf('msg', ms)}', 'ses_a', 'assistant', ${ms - AT}, ${ms}, ${ms}, ${quoted(later(ms, tokens))});`
    const apart = { input: 6, output: 4, reasoning: 3, cache: { read: 2, write: 1 } }
    expect(
      await only(message('ses_a', AT, answer(AT, counts(7, 7))), insert(AT, counts(7, 7)), insert(AT + 1, apart)),
    ).toEqual(['input 7, output 7', 'input 6, cacheRead 2, cacheWrite5m 1, output 7'])
    expect((await read()).calls[1]).toMatchObject({ model: 'gpt-5.2', provider: 'openai' })
  })
})

describe('a database in use', () => {
  test('an answer counts when its counts are there, however long it was being written', async () => {
    const path = database(`${TABLES} ${session('ses_a')}`)
    open = new OpenDatabase(path)
    const unfinished = answer(AT, counts(0, 0), { time: { created: AT } })
    await open.run(`pragma journal_mode = wal; pragma wal_autocheckpoint = 0; ${message('ses_a', AT, unfinished)}`)
    expect(await told()).toEqual([])
    // others come and go meanwhile
    for (let n = 1; n <= 3; n++)
      await open.run(message('ses_a', AT + n * 600_000, answer(AT + n * 600_000, counts(n, n))))
    expect(await told()).toEqual(['input 1, output 1', 'input 2, output 2', 'input 3, output 3'])
    const done = quoted(answer(AT, counts(50, 5)))
    await open.run(`update message set data = ${done} where id = '${idOf('msg', AT)}';`)
    expect((await told()).sort()).toEqual([
      'input 1, output 1',
      'input 2, output 2',
      'input 3, output 3',
      'input 50, output 5',
    ])
  })

  test('a message that is written a moment after one with a later time is not passed over', async () => {
    const path = database(`${TABLES} ${session('ses_a')} ${session('ses_b', 'ses_a')}`)
    sql(path, message('ses_a', AT + 20_000, answer(AT + 20_000, counts(2, 2))))
    expect(await told()).toEqual(['input 2, output 2'])
    sql(path, message('ses_b', AT, answer(AT, counts(1, 1))))
    expect(await told()).toEqual(['input 2, output 2', 'input 1, output 1'])
  })

  test('while it is written to, every call is read once and none is missed', { timeout: 60_000 }, async () => {
    const path = database(`${TABLES} ${session('ses_a')} ${session('ses_b', 'ses_a')} ${session('ses_c')}`)
    open = new OpenDatabase(path)
    await open.run('pragma journal_mode = wal; pragma wal_autocheckpoint = 20; pragma synchronous = off;')
    let written = 0
    let writing = true
    const write = async () => {
      while (writing && written < 3000) {
        const batch = Array.from({ length: 10 }, () => {
          const ms = AT + ++written
          const of = ['ses_a', 'ses_b', 'ses_c'][written % 3]!
          const data = answer(ms, counts(written, 1))
          const begun = message(of, ms, answer(ms, counts(0, 0), { time: { created: ms } }))
          const ended = `update message set data = ${quoted(data)} where id = '${idOf('msg', ms)}';`
          return `${begun} begin; ${step(idOf('msg', ms), ms, { tokens: data.tokens })} ${ended} commit;`
        })
        await open!.run(batch.join('\n'))
      }
    }
    const writer = write()
    try {
      while (written < 300) {
        await read()
        await new Promise(resolve => setTimeout(resolve, 10))
      }
    } finally {
      writing = false
      await writer
    }
    const { calls, problems } = await read()
    expect(problems).toBe(0)
    expect(calls.map(({ tokens }) => tokens.input).sort((a, b) => a - b)).toEqual(
      Array.from({ length: written }, (_, n) => n + 1),
    )
    expect(sql(path, 'pragma integrity_check')).toEqual([{ integrity_check: 'ok' }])
  })

  test('only sessions with new messages are told of, a subagent’s as its parent; of a new database all', async () => {
    const now = Date.now()
    const old = now - 10 * DAY_MS
    const path = database(
      `${TABLES} ${session('ses_a')} ${session('ses_b', 'ses_a')} ${session('ses_c')} ${session('ses_d', 'ses_gone')}
       ${message('ses_a', old, answer(old, counts(1, 1)))} ${message('ses_b', now, answer(now, counts(1, 1)))}
       ${message('ses_c', old + 1, answer(old + 1, counts(1, 1)))} ${message('ses_d', now + 1, answer(now + 1, counts(1, 1)))}`,
    )
    const changed = (sinceMs: number) =>
      [...opencode.usage.changedSessions({ homeDir: home, env: {} }, sinceMs)]
        .flat()
        .map(({ sessionId, changedMs }) => [sessionId, changedMs])
        .sort()
    const later = [
      ['ses_a', now],
      ['ses_d', now + 1],
    ]
    const all = [...later, ['ses_c', old + 1]].sort()
    expect(changed(Date.now() + 60_000)).toEqual([])
    expect(changed(now - 60_000)).toEqual(all)
    await new Promise(resolve => setTimeout(resolve, 30))
    sql(path, 'delete from session_message;')
    expect(changed(statSync(path).birthtimeMs + 10)).toEqual(later)
  })

  test('long rows beside the counts are not read', async () => {
    const tool = quoted({ type: 'tool', state: { output: 'x'.repeat(400_000) } })
    const listing = { role: 'user', summary: { diffs: [{ before: 'y'.repeat(400_000) }] } }
    const ids = Array.from({ length: 40 }, (_, n) => AT + n)
    const path = database(
      `${TABLES} ${session('ses_a')}
       ${ids.map(ms => `${message('ses_a', ms, answer(ms, counts(1, 2)))} insert into part values ('${idOf('prt', ms, 't')}', '${idOf('msg', ms)}', 'ses_a', 1, 1, ${tool});`).join('\n')}
       ${ids.map(ms => step(idOf('msg', ms), ms, { tokens: counts(1, 2) })).join('\n')}
       ${Array.from({ length: 10 }, (_, n) => message('ses_a', AT + 100 + n, listing)).join('\n')}`,
    )
    expect(statSync(path).size).toBeGreaterThan(15_000_000)
    let state: OpencodeUsageState | undefined
    let rounds = 0
    let records = 0
    for (let more = true; more; rounds++) {
      const price = () => ({ picoUsd: 1n, fallback: false })
      const part = opencode.usage.readSession(
        { homeDir: home, env: {} },
        { sessionId: 'ses_a' },
        state,
        { rateCard: 'a', price },
        { bytes: 100_000 },
      )
      ;({ state, more } = part)
      records += part.records.length
    }
    expect(records).toBe(40)
    // 15 MB would be 150 pieces, each of the listings one
    expect(rounds).toBeLessThan(4)
  })
})

describe('where it is looked for', () => {
  const one = (n: number) =>
    `${TABLES} ${session(`ses_${n}`)} ${message(`ses_${n}`, AT + n, answer(AT + n, counts(n, n)))}`

  test('every channel’s database, the one that is named, and where the data folder was moved to', async () => {
    database(one(1))
    database(one(2), place('opencode-dev.db'))
    database(one(3), join(home, 'elsewhere/mine.sqlite'))
    database(one(4), place('backup.db'))
    database(one(5), join(home, 'data/opencode/opencode.db'))
    expect(await told()).toEqual(['input 1, output 1', 'input 2, output 2'])
    expect(await told({ OPENCODE_DB: join(home, 'elsewhere/mine.sqlite') })).toEqual([
      'input 1, output 1',
      'input 2, output 2',
      'input 3, output 3',
    ])
    expect((await told({ XDG_DATA_HOME: join(home, 'data'), OPENCODE_DB: ':memory:' })).at(-1)).toBe(
      'input 5, output 5',
    )
  })

  test('what is no database of ours is told as unread, and the others are read', async () => {
    database(one(1))
    database(one(2), join(home, 'target.db'))
    symlinkSync(join(home, 'target.db'), place('opencode-link.db'))
    expect(await read()).toMatchObject({ problems: 1, calls: [{ tokens: { input: 1 } }] })
    rmSync(place('opencode-link.db'))
    writeFileSync(place('opencode-text.db'), 'no database')
    expect(await read()).toMatchObject({ problems: 1 })
    writeFileSync(place('opencode-text.db'), '')
    expect(await read()).toMatchObject({ problems: 0, calls: [{ tokens: { input: 1 } }] })
    if (process.getuid?.() === 0) {
      chownSync(database(one(3), place('opencode-other.db')), 65534, 65534)
      expect(await read()).toMatchObject({ problems: 1, calls: [{ tokens: { input: 1 } }] })
      rmSync(place('opencode-other.db'))
    }
    mkdirSync(place('opencode-folder.db'))
    expect(await read()).toMatchObject({ problems: 1 })
  })

  test('what could not be read when all was read for the first time is read when it can be', async () => {
    const old = AT - 20 * DAY_MS
    const path = database(`${TABLES} ${session('ses_a')} ${message('ses_a', old, answer(old, counts(5, 5)))}`)
    const indexes = 'create index late on message(session_id, time_created, id);'
    sql(path, 'drop index message_session_time_created_id_idx;')
    expect(await read()).toMatchObject({ problems: 1, calls: [] })
    await new Promise(resolve => setTimeout(resolve, 20))
    const from = Date.now() + 60_000
    sql(path, indexes)
    expect([...opencode.usage.changedSessions({ homeDir: home, env: {} }, from)].flat()).toMatchObject([
      { sessionId: 'ses_a' },
    ])
    expect([...opencode.usage.changedSessions({ homeDir: home, env: {} }, from)].flat()).toEqual([])
  })

  test('a session that is nowhere is no transcript, and an id that is no id is not looked for', () => {
    const price = () => ({ picoUsd: 1n, fallback: false })
    const problem = (sessionId: string) =>
      opencode.usage.readSession({ homeDir: home, env: {} }, { sessionId }, undefined, { rateCard: 'a', price }).problem
    expect(problem('ses_none')).toBe('no_transcript')
    database(one(1))
    expect(problem('ses_none')).toBe('no_transcript')
    expect(problem('../ses_1')).toBe('no_transcript')
    expect(problem('ses_1')).toBeUndefined()
  })
})

describe('the files of versions before the database', () => {
  const file = (value: unknown, ...names: string[]) => {
    const path = place('storage', ...names)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, typeof value === 'string' ? value : JSON.stringify(value))
    return path
  }
  const write = () => {
    file({ id: 'ses_a', directory: '/work' }, 'session', 'global', 'ses_a.json')
    file({ id: 'ses_b', parentID: 'ses_a' }, 'session', 'global', 'ses_b.json')
    const [a, b] = [idOf('msg', AT), idOf('msg', AT + 1)]
    const old = (input: number) => ({ input, output: 9, reasoning: 4, cache: { read: 0, write: 0 } })
    file({ id: a, sessionID: 'ses_a', ...answer(AT, old(2)) }, 'message', 'ses_a', `${a}.json`)
    file({ type: 'step-finish', tokens: old(1) }, 'part', a, `${idOf('prt', AT)}.json`)
    file({ type: 'tool', state: { output: '"step-finish"'.repeat(9000) } }, 'part', a, `${idOf('prt', AT + 1)}.json`)
    file({ type: 'step-finish', tokens: old(2) }, 'part', a, `${idOf('prt', AT + 2)}.json`)
    return file({ id: b, sessionID: 'ses_b', ...answer(AT + 1, old(7)) }, 'message', 'ses_b', `${b}.json`)
  }

  test('count each step once, and what is written anew in its place', async () => {
    const path = write()
    expect((await told()).sort()).toEqual(['input 1, output 9', 'input 2, output 9', 'input 7, output 9'])
    const { calls } = await read()
    expect(calls.map(({ subagent, place: { session: of } }) => [subagent, of])).toEqual([
      [false, 'ses_a'],
      [false, 'ses_a'],
      [true, 'ses_a'],
    ])
    writeFileSync(path, readFileSync(path, 'utf8').replace('"input":7', '"input":8'))
    expect((await told()).sort()).toEqual(['input 1, output 9', 'input 2, output 9', 'input 8, output 9'])
    writeFileSync(path, '{"half":')
    expect(await read()).toMatchObject({ problems: 0 })
  })

  test('are not counted again from the database that took them over', async () => {
    write()
    await read()
    const [a, b] = [idOf('msg', AT), idOf('msg', AT + 1)]
    const old = (input: number) => ({ input, output: 9, reasoning: 4, cache: { read: 0, write: 0 } })
    database(
      `${TABLES} ${session('ses_a')} ${session('ses_b', 'ses_a')} ${message('ses_a', AT, answer(AT, old(2)))}
       ${message('ses_b', AT + 1, answer(AT + 1, old(7)))} ${message('ses_b', AT + 2, answer(AT + 2, old(3)))}
       ${step(a, AT, { tokens: old(1) })} ${step(a, AT + 2, { tokens: old(2) })} ${step(b, AT + 3, { tokens: old(7) })}`,
    )
    expect((await told()).sort()).toEqual([1, 2, 3, 7].map(n => `input ${n}, output 9`))
  })

  test('a link in their place is not followed', async () => {
    write()
    rmSync(place('storage', 'message', 'ses_b'), { recursive: true })
    mkdirSync(join(home, 'other'), { recursive: true })
    const b = idOf('msg', AT + 1)
    writeFileSync(join(home, 'other', `${b}.json`), JSON.stringify(answer(AT + 1, counts(99, 99))))
    symlinkSync(join(home, 'other'), place('storage', 'message', 'ses_b'))
    expect((await told()).sort()).toEqual(['input 1, output 9', 'input 2, output 9'])
  })
})

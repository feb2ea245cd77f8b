import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { claude } from '#agent/clients/claude/claude.ts'
import type { ClaudeUsageState } from '#agent/clients/claude/transcript.ts'
import type { ClientHome } from '#agent/clients/client-home.ts'
import type { SessionUsage } from '#agent/clients/usage-source.ts'
import { pricingFrom } from '#agent/pricing/rate-card.ts'
import { picoToUsd } from '#core/pricing.ts'
import { builtInRates } from '#core/rate-card/built-in.ts'

const PAYLOADS = join(import.meta.dirname, '../../clients/payloads/claude')
const recorded = (name: string): object[] =>
  JSON.parse(fs.readFileSync(join(PAYLOADS, `transcript.${name}.json`), 'utf8')).lines
const ID = '00000000-0000-4000-8000-000000000001'
const CWD = '/home/dev/project'
const FOLDER = '-home-dev-project'
const pricing = pricingFrom(builtInRates())

let dir: string
let home: ClientHome
let main: string
beforeEach(() => {
  dir = fs.mkdtempSync(join(tmpdir(), 'holdpoint-transcript-'))
  home = { homeDir: dir, env: {} }
  main = join(dir, '.claude/projects', FOLDER, `${ID}.jsonl`)
  fs.mkdirSync(join(main, '..'), { recursive: true })
})
afterEach(() => fs.rmSync(dir, { recursive: true, force: true }))

type Usage = SessionUsage<ClaudeUsageState>
/** Reads as a daemon does that was restarted in between: the state goes through JSON. */
function read(
  before?: Usage,
  more: { cwd?: string; transcriptPath?: string; sessionId?: string } = {},
  prices = pricing,
): Usage {
  const state = before && (JSON.parse(JSON.stringify(before.state)) as ClaudeUsageState)
  return claude.usage.readSession(home, { sessionId: ID, cwd: CWD, ...more }, state, prices)
}
const usd = (usage: Usage) => (usage.costPicoUsd === undefined ? undefined : picoToUsd(usage.costPicoUsd))
const write = (lines: object[], file = main) =>
  fs.writeFileSync(file, lines.map(l => `${JSON.stringify(l)}\n`).join(''))
const append = (...lines: object[]) => fs.appendFileSync(main, lines.map(l => `${JSON.stringify(l)}\n`).join(''))

let n = 0
/** One response: a million output tokens of the default model are 20 dollars. */
const response = (
  more: {
    id?: string | undefined
    requestId?: string | undefined
    model?: string
    usage?: object
    content?: object[]
  } = {},
) => {
  n++
  const {
    id = `msg_${n}`,
    requestId = `req_${n}`,
    model = 'claude-opus-5-5',
    usage = { output_tokens: 1_000_000 },
    content = [],
  } = more
  return { type: 'assistant', requestId, timestamp: '2026-11-30T12:00:00.000Z', message: { id, model, content, usage } }
}

describe('recorded transcripts', () => {
  test('cost what the client itself counted', () => {
    // input 20 x 4 + output 103 x 20 + read 18252 x 0.2 + 5m 2228 x 5 + 1h 16204 x 8, in micro-dollars = 146562.4
    write(recorded('bash'))
    const usage = read()
    expect(usd(usage)).toBe('0.1465624')
    const costState = recorded('bash').find(l => (l as { type: string }).type === 'cost-state') as {
      totalCostUSD: number
    }
    expect(Number(usd(usage))).toBe(costState.totalCostUSD)
    expect(usage).toMatchObject({
      fresh: true,
      more: false,
      fallback: false,
      model: 'claude-opus-5-5',
      unpricedModels: [],
    })
    expect(usage.records.map(r => r.tokens.output)).toEqual([92, 11])
  })

  test('a subagent’s file is part of its session and names its agent', () => {
    write(recorded('task-main'))
    const alone = read()
    const sub = join(main.replace('.jsonl', ''), 'subagents')
    fs.mkdirSync(sub, { recursive: true })
    // the recording numbers its ids anew in each file; in life they differ
    const lines = JSON.parse(JSON.stringify(recorded('task-subagent')).replaceAll(/(msg|req|toolu)_0/g, '$1_9'))
    write(lines, join(sub, 'agent-a0000000000000001.jsonl'))
    const both = read(alone)
    // input 12 x 4 + output 56 x 20 + read 9001 x 0.2 + 5m 9061 x 5 = 48273.2 micro-dollars
    expect(both.costPicoUsd! - alone.costPicoUsd!).toBe(48_273_200_000n)
    expect(both.toolUses.at(-1)).toMatchObject({ toolName: 'Bash', agentId: 'a0000000000000001' })
    expect(both.records.every(r => r.agentId === 'a0000000000000001')).toBe(true)
  })

  test('tool uses and how they ended', () => {
    write(recorded('bash'))
    expect(read().toolUses).toMatchObject([{ toolUseId: 'toolu_000000000000000000000001', toolName: 'Bash' }])
    expect(read().toolResults).toMatchObject([{ outcome: 'ran', decidedBy: 'user_permanent' }])
    write(recorded('denied'))
    expect(read().toolResults).toMatchObject([{ outcome: 'refused', decidedBy: 'hook' }])
  })

  test('no text of theirs is in the state or the result', () => {
    write([...recorded('task-main'), ...recorded('denied')])
    const { costPicoUsd: _, ...rest } = read()
    expect(JSON.stringify(rest)).not.toMatch(/stub:|echo|hook error|Sub work|final/)
  })
})

describe('counting once', () => {
  test('three equal rows without a request id count one', () => {
    const row = response()
    const { requestId: _, ...bare } = row
    write([bare, bare, bare])
    expect(usd(read())).toBe('20')
  })

  test('a line per content block counts one, and the fullest usage holds', () => {
    write(
      [1, 700_000, 1_000_000, 500].map(output_tokens =>
        response({ id: 'm', requestId: 'r', usage: { output_tokens } }),
      ),
    )
    const usage = read()
    expect(usd(usage)).toBe('20')
    expect(usage.records).toMatchObject([{ key: 'm', tokens: { output: 1_000_000 } }])
  })

  test('the same row in two reads and in two files counts one', () => {
    write([response({ id: 'm', requestId: 'r' })])
    const first = read()
    append(response({ id: 'm', requestId: 'r' }))
    const sub = join(main.replace('.jsonl', ''), 'subagents')
    fs.mkdirSync(sub, { recursive: true })
    write([response({ id: 'm', requestId: 'r' })], join(sub, 'agent-a1.jsonl'))
    const second = read(first)
    expect(usd(second)).toBe('20')
    expect(second.records).toEqual([])
  })

  test('two requests that are equal in all but their ids are two', () => {
    write([response({ id: 'a', requestId: 'x' }), response({ id: 'b', requestId: 'y' })])
    expect(usd(read())).toBe('40')
  })

  test('a gateway that gives every message one id does not hide them', () => {
    write([response({ id: 'same', requestId: 'x' }), response({ id: 'same', requestId: 'y' })])
    const usage = read()
    expect(usd(usage)).toBe('40')
    expect(usage.records.map(r => r.key)).toEqual(['same', 'same|y'])
  })

  test('without any message id the request id is the key', () => {
    const row = response({ requestId: 'r' })
    const { id: _, ...message } = row.message
    write([
      { ...row, message },
      { ...row, message },
    ])
    expect(usd(read())).toBe('20')
  })

  test('a response whose stream broke off counts what it had used, and is marked; of older versions nobody knows', () => {
    const ended = (version: string | undefined, more: object) => {
      const line = response({ usage: { output_tokens: 1 } })
      return { ...line, version, message: { ...line.message, ...more } }
    }
    write([
      ended('2.1.332', { stop_reason: 'end_turn' }),
      ended('2.1.332', { stop_reason: 'end_turn', stop_details: null }),
      ended('2.1.331', { stop_reason: 'end_turn' }),
      ended('2.2.0', { stop_reason: 'tool_use' }),
      ended('10.0.0-beta', { stop_reason: 'tool_use' }),
      ended('2.1.332', { stop_reason: null }),
      ended(undefined, { stop_reason: 'end_turn' }),
    ])
    expect(read().records.map(({ partial = false }) => partial)).toEqual([true, false, false, true, true, false, false])
  })

  test('the client’s own error messages and empty usage count nothing', () => {
    write([response({ model: '<synthetic>' }), response({ usage: {} }), response({ usage: { output_tokens: -5 } })])
    expect(usd(read())).toBe('0')
    expect(read().records).toEqual([])
  })
})

describe('the provider’s usage on disjoint axes', () => {
  const tokens = (usage: object) => {
    write([response({ usage })])
    return read().records[0]?.tokens
  }

  test('write tokens that the split does not cover are five-minute ones', () => {
    const usage = {
      cache_creation_input_tokens: 184_457,
      cache_creation: { ephemeral_5m_input_tokens: 20_000, ephemeral_1h_input_tokens: 11_490 },
    }
    expect(tokens(usage)).toMatchObject({ cacheWrite5m: 172_967, cacheWrite1h: 11_490 })
    expect(tokens({ cache_creation_input_tokens: 7 })).toMatchObject({ cacheWrite5m: 7, cacheWrite1h: 0 })
    expect(tokens({ cache_creation_input_tokens: 7, cache_creation: null })).toMatchObject({ cacheWrite5m: 7 })
  })

  test('web searches cost per request', () => {
    write([response({ usage: { server_tool_use: { web_search_requests: 3 } } })])
    expect(usd(read())).toBe('0.03')
  })

  test('iterations beside the top level are counted, another model’s on its own', () => {
    write([
      response({
        id: 'm',
        usage: {
          output_tokens: 100,
          iterations: [
            { output_tokens: 1_000_000 },
            { output_tokens: 100 },
            { model: 'claude-haiku-4-5', output_tokens: 1_000_000 },
          ],
        },
      }),
    ])
    const usage = read()
    expect(usage.records.map(r => [r.key, r.model, r.tokens.output])).toEqual([
      ['m', 'claude-opus-5-5', 1_000_100],
      ['m#2', 'claude-haiku-4-5', 1_000_000],
    ])
    expect(usd(usage)).toBe('25.002')
  })

  test('an unknown model is priced at the bound and named, and so is another speed', () => {
    write([response({ model: 'claude-haiku-5-5' }), response({ usage: { output_tokens: 1_000_000, speed: 'fast' } })])
    const usage = read()
    expect(usd(usage)).toBe('150')
    expect(usage).toMatchObject({ fallback: true, unpricedModels: ['claude-haiku-5-5', 'claude-opus-5-5:fast'] })
    write([response({ usage: { output_tokens: 1_000_000, speed: 'standard' } })])
    expect(usd(read())).toBe('20')
  })
})

describe('reading on', () => {
  test('a line that is still being written waits, and counts once it is whole', () => {
    const line = `${JSON.stringify(response())}\n`
    fs.writeFileSync(main, line.slice(0, 80))
    const first = read()
    expect(usd(first)).toBe('0')
    fs.appendFileSync(main, line.slice(80, -1))
    const second = read(first)
    expect(usd(second)).toBe('0')
    fs.appendFileSync(main, '\n')
    expect(usd(read(second))).toBe('20')
  })

  test('every split of the bytes gives the same figures', () => {
    write(recorded('bash'))
    const bytes = fs.readFileSync(main)
    const whole = read()
    for (let cut = 1; cut < bytes.length; cut += 997) {
      fs.writeFileSync(main, bytes.subarray(0, cut))
      const first = read()
      fs.appendFileSync(main, bytes.subarray(cut))
      const second = read(first)
      expect(usd(second)).toBe(usd(whole))
      expect([...first.toolUses, ...second.toolUses]).toEqual(whole.toolUses)
    }
  })

  test('a line of two megabytes is read, and those around it', () => {
    const text = 'x"\\n é'.repeat(300_000)
    write([response(), response({ content: [{ type: 'text', text }] }), response()])
    expect(fs.statSync(main).size).toBeGreaterThan(2_000_000)
    expect(usd(read())).toBe('60')
  })

  test('text that looks like usage counts nothing', () => {
    const fake = JSON.stringify(response())
    write([
      {
        type: 'user',
        message: { content: [{ type: 'tool_result', tool_use_id: 't', content: fake }] },
        toolUseResult: fake,
      },
      { type: 'user', message: { content: fake } },
      { type: 'user', message: { usage: { output_tokens: 5 }, id: 'm', model: 'claude-opus-5-5' } },
    ])
    fs.appendFileSync(main, `not json "usage":{\n[1,"usage":{]\n"usage":{\nnull\n`)
    append(response())
    expect(usd(read())).toBe('20')
  })

  test('lines that cannot matter are never parsed', () => {
    const noise = { type: 'file-history-snapshot', snapshot: 'x'.repeat(100_000) }
    write([noise, response(), noise])
    const parsed: number[] = []
    const { parse } = JSON
    JSON.parse = ((text: string) => {
      parsed.push(text.length)
      return parse(text)
    }) as typeof JSON.parse
    try {
      claude.usage.readSession(home, { sessionId: ID, cwd: CWD }, undefined, pricing)
    } finally {
      JSON.parse = parse
    }
    expect(parsed).toHaveLength(1)
  })

  test('a truncated, rotated or rewritten file is read from its start and nothing counts twice', () => {
    const [a, b, c] = [response(), response(), response()]
    write([a, b])
    let usage = read()
    write([a])
    usage = read(usage)
    expect(usd(usage)).toBe('40')
    append(c)
    usage = read(usage)
    expect(usd(usage)).toBe('60')
    fs.renameSync(main, `${main}.old`)
    write([c, response()])
    usage = read(usage)
    expect(usd(usage)).toBe('80')
    // the same inode with other content of more bytes
    write([response(), response(), response(), response()])
    usage = read(usage)
    expect(usd(usage)).toBe('160')
  })

  test('the cost never falls, whatever becomes of the file or the prices', () => {
    write([response()])
    let usage = read()
    const acts = [
      () => fs.truncateSync(main, 0),
      () => fs.rmSync(main),
      () => fs.rmSync(join(dir, '.claude'), { recursive: true }),
    ]
    for (const act of acts) {
      act()
      usage = read(usage)
      expect(usd(usage)).toBe('20')
    }
    expect(usage).toMatchObject({ fresh: false, problem: 'no_transcript' })
    fs.mkdirSync(join(main, '..'), { recursive: true })
    write([response(), response()])
    const free = pricingFrom(builtInRates({ onUnpricedModel: 'zero', providers: ['anthropic'] }))
    usage = read(usage, {}, { ...free, price: () => ({ picoUsd: 1n, fallback: false }) })
    expect(usd(usage)).toBe('20')
  })

  test('other prices read from the start again', () => {
    write([response({ model: 'nobody-knows' })])
    const before = read(undefined, {}, pricingFrom(builtInRates({ onUnpricedModel: 'zero', providers: ['anthropic'] })))
    expect(usd(before)).toBe('0')
    expect(usd(read(before))).toBe('75')
  })

  test('never read is not zero', () => {
    expect(read()).toMatchObject({ costPicoUsd: undefined, fresh: false, problem: 'no_transcript' })
  })
})

describe('a resumed and a forked session', () => {
  test('resuming goes on in the same file, at the same cost', () => {
    write([response()])
    const before = read()
    append({ type: 'user', message: { content: 'go on' } }, response())
    expect(usd(read(before))).toBe('40')
  })

  test('a fork starts at its parent’s cost, under the same usage keys', () => {
    const history = [response(), response()]
    write(history)
    const parent = read()
    const other = 'ffffffff-0000-4000-8000-000000000001'
    write([...history, response()], main.replace(ID, other))
    const fork = read(undefined, { sessionId: other })
    expect(usd(fork)).toBe('60')
    expect(fork.records.slice(0, 2).map(r => r.key)).toEqual(parent.records.map(r => r.key))
  })
})

describe('a file that may not be read', () => {
  const outside = () => {
    const file = join(dir, 'outside', `${ID}.jsonl`)
    fs.mkdirSync(join(file, '..'))
    write([response(), response()], file)
    return file
  }

  test('a link in the transcript’s place is not followed', () => {
    fs.symlinkSync(outside(), main)
    expect(read()).toMatchObject({ costPicoUsd: undefined, problem: 'not_a_file' })
  })

  test('a linked project folder is not followed', () => {
    fs.rmdirSync(join(main, '..'))
    fs.symlinkSync(join(outside(), '..'), join(main, '..'))
    expect(read()).toMatchObject({ costPicoUsd: undefined, problem: 'no_transcript' })
  })

  test('a pipe does not block', () => {
    execFileSync('mkfifo', [main])
    expect(read()).toMatchObject({ costPicoUsd: undefined, problem: 'not_a_file' })
  })

  test('a folder and a file without rights are told', () => {
    fs.mkdirSync(main)
    expect(read()).toMatchObject({ problem: 'not_a_file' })
    fs.rmdirSync(main)
    write([response()])
    fs.chmodSync(main, 0)
    // root reads everything: there the file's owner is what is checked
    if (process.getuid?.() === 0) fs.chownSync(main, 12345, 12345)
    const problem = process.getuid?.() === 0 ? 'not_ours' : 'unreadable'
    expect(read()).toMatchObject({ costPicoUsd: undefined, problem })
  })

  test('a path from the payload outside the client’s own roots is not taken', () => {
    const transcriptPath = outside()
    expect(read(undefined, { transcriptPath })).toMatchObject({ costPicoUsd: undefined, problem: 'no_transcript' })
    expect(read(undefined, { transcriptPath: join(dir, '.claude/projects/..', `${ID}.jsonl`) }).problem).toBe(
      'no_transcript',
    )
  })

  test('a session id that leads elsewhere is not taken', () => {
    outside()
    for (const sessionId of [`../../../outside/${ID}`, '..', ''])
      expect(read(undefined, { sessionId }).problem).toBe('no_transcript')
  })

  test('an unreadable subagent is told, and the rest still counts', () => {
    write([response()])
    const sub = join(main.replace('.jsonl', ''), 'subagents')
    fs.mkdirSync(sub, { recursive: true })
    fs.symlinkSync(outside(), join(sub, 'agent-a1.jsonl'))
    const usage = read()
    expect(usd(usage)).toBe('20')
    expect(usage).toMatchObject({ fresh: false, problem: 'not_a_file' })
  })
})

describe('finding the session', () => {
  test('in whatever folder it lies, without a hint', () => {
    const elsewhere = join(dir, '.claude/projects/some-other-name')
    fs.mkdirSync(elsewhere)
    write([response()], join(elsewhere, `${ID}.jsonl`))
    expect(usd(read(undefined, { cwd: '/nowhere' }))).toBe('20')
  })

  test('a session that is found in a second folder later counts both', () => {
    write([response()])
    const first = read()
    const elsewhere = join(dir, '.claude/projects/-home-dev-worktree')
    fs.mkdirSync(elsewhere)
    write([response()], join(elsewhere, `${ID}.jsonl`))
    expect(usd(read(first, { cwd: '/home/dev/worktree' }))).toBe('40')
  })

  test('below CLAUDE_CONFIG_DIR', () => {
    home = { homeDir: '/nonexistent', env: { CLAUDE_CONFIG_DIR: join(dir, '.claude') } }
    write([response()])
    expect(usd(read())).toBe('20')
  })
})

test('an answer at the client’s prompt is read back', () => {
  const result = (tool_use_id: string, more: object, block: object = {}) => ({
    type: 'user',
    message: { content: [{ type: 'tool_result', tool_use_id, content: 'x', ...block }] },
    ...more,
  })
  write([
    result('no', { toolUseResult: 'User rejected tool use' }, { is_error: true }),
    result(
      'no-text',
      {},
      { is_error: true, content: "The user doesn't want to proceed with this tool use. The tool use was rejected" },
    ),
    result('failed', { toolUseResult: 'Error: Exit code 3' }, { is_error: true }),
    result('yes', { permissionDecision: { decision: 'accept', source: 'user_temporary' } }),
    result('said-so', {}, { is_error: false, content: "The user doesn't want to proceed with this tool use" }),
  ])
  expect(read().toolResults.map(r => [r.toolUseId, r.outcome])).toEqual([
    ['no', 'declined'],
    ['no-text', 'declined'],
    ['failed', 'ran'],
    ['yes', 'ran'],
    ['said-so', 'ran'],
  ])
})

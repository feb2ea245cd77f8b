#!/usr/bin/env node
import { randomUUID } from 'node:crypto'
import { appendFileSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
/**
 * stub-api.mjs - a scripted model API on loopback, for testing coding-agent clients.
 *
 * Speaks enough of four wire protocols that the real clients run against it:
 *   - Anthropic Messages      POST /v1/messages (SSE and plain), POST /v1/messages/count_tokens
 *   - OpenAI Responses        POST /v1/responses (SSE and plain)
 *   - OpenAI Chat Completions POST /v1/chat/completions (SSE and plain)
 *   - Gemini                  POST /v1beta/models/<m>:generateContent | :streamGenerateContent | :countTokens
 *   - GET /v1/models, HEAD|GET /
 * No dependency; node >= 18. It binds 127.0.0.1 only.
 *
 * SCRIPTING. The server keeps no conversation state. The answer is found from the request alone:
 *   1. Find the last user text with a marker `[stub:NAME]`. NAME picks a scenario (a list of steps).
 *   2. Count the assistant turns after that text: that is the index of the step to answer with.
 *   3. Past the last step, or with no marker, or when the request declares no tools (title
 *      generation and the like): a plain text.
 * A subagent gets its own script when its prompt (written by a step's tool input) carries a marker.
 *
 * A scenario is an array of steps, each one assistant turn:
 *   { "text": "...",                                  optional text, sent before the tools
 *     "thinking": "...",                              optional (Anthropic only)
 *     "tools": [ { "name": "Bash", "input": {...} },  0..n calls, parallel when more than one
 *                { "name": "apply_patch", "raw": "*** Begin Patch..." } ],   OpenAI custom (freeform) tool; "namespace" may be set
 *     "items": [ { "type": "web_search_call", ... } ],  output of the server's own tools (Responses only)
 *     "usage": { "input": 12, "output": 34, "cache_read": 0, "cache_5m": 0, "cache_1h": 0, "reasoning": 0 },
 *                                                     "input" never holds the cached ones; each protocol adds up as it does.
 *                                                     "reasoning" is a part of "output" (OpenAI), beside it (Gemini)
 *     "delayMs": 0,                                   wait before the answer
 *     "headers": {},                                  further headers of the answer
 *     "status": 429, "error": {...} }                 answer with an HTTP error instead
 * `$CWD` and every `$VAR` given with --var VAR=value is replaced inside strings of a step.
 * `$OUT(regex)$` is replaced by the first group of that regex in the newest tool output (an agent id, say).
 * Scenarios come from --scenarios FILE (JSON object name -> steps) and PUT /__stub/scenarios/NAME.
 *
 * CONTROL (loopback only, for test drivers)
 *   GET    /__stub/requests        all requests seen: [{n, t, at, method, path, headers, body, scenario, step, served}];
 *                                  served: {id, model, usage} of an answered model request, usage as in a step, filled up
 *   DELETE /__stub/requests        forget them
 *   PUT    /__stub/scenarios/NAME  set one scenario
 *   PUT    /__stub/ratelimit       set rate limit headers sent by /v1/messages (null switches them off)
 *
 * OPTIONS
 *   --port N (0 = any; default 0)   --port-file FILE (writes the port once it listens)
 *   --scenarios FILE                --log FILE (one JSON line per request; auth values are cut)
 *   --var NAME=VALUE (repeatable)   --max-ms N (stops by itself; default 30 minutes)
 */
import http from 'node:http'

// ---------------------------------------------------------------- options
const opt = { port: 0, portFile: '', scenarios: '', log: '', maxMs: 30 * 60_000, vars: {} }
for (let i = 2; i < process.argv.length; i++) {
  const a = process.argv[i]
  const next = () => process.argv[++i]
  if (a === '--port') opt.port = Number(next())
  else if (a === '--port-file') opt.portFile = next()
  else if (a === '--scenarios') opt.scenarios = next()
  else if (a === '--log') opt.log = next()
  else if (a === '--max-ms') opt.maxMs = Number(next())
  else if (a === '--var') {
    const [k, ...v] = next().split('=')
    opt.vars[k] = v.join('=')
  } else {
    console.error(`unknown option ${a}`)
    process.exit(2)
  }
}
const scenarios = new Map(Object.entries(opt.scenarios ? JSON.parse(readFileSync(opt.scenarios, 'utf8')) : {}))

/** Rate limit headers as a subscription account gets them (see PUT /__stub/ratelimit). */
let rateLimit = {
  '5h': { utilization: 0.42, reset: Math.floor(Date.now() / 1000) + 2 * 3600, status: 'allowed' },
  '7d': { utilization: 0.17, reset: Math.floor(Date.now() / 1000) + 4 * 86400, status: 'allowed' },
}

// ---------------------------------------------------------------- small helpers
const requests = []
const id = p => p + randomUUID().replaceAll('-', '').slice(0, 24)
const sleep = ms => new Promise(r => setTimeout(r, ms))
const CUT = /^(authorization|x-api-key|x-goog-api-key|api-key|cookie|proxy-authorization)$/i

function readBody(req) {
  return new Promise((resolve, reject) => {
    const parts = []
    req.on('data', c => parts.push(c))
    req.on('end', () => resolve(Buffer.concat(parts).toString('utf8')))
    req.on('error', reject)
  })
}

/** Replaces $OUT(regex)$ and $NAME in every string of a step. */
function fill(value, vars, out = '') {
  if (typeof value === 'string')
    return value
      .replace(/\$OUT\((.+?)\)\$/g, (_, re) => out.match(new RegExp(re))?.[1] ?? '')
      .replace(/\$([A-Z][A-Z0-9_]*)/g, (m, k) => (k in vars ? vars[k] : m))
  if (Array.isArray(value)) return value.map(v => fill(v, vars, out))
  if (value && typeof value === 'object')
    return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, fill(v, vars, out)]))
  return value
}

const DEFAULT_USAGE = { input: 12, output: 64, cache_read: 0, cache_5m: 0, cache_1h: 0, reasoning: 0 }

/**
 * Picks the step for a conversation.
 * @param {{role: 'user'|'assistant'|'tool', text: string, out?: string}[]} turns in order; consecutive assistant items
 *        of one response must already be merged into one turn
 * @param {boolean} hasTools whether the request declares tools
 */
function pick(turns, hasTools) {
  let at = -1,
    name = null
  for (let i = turns.length - 1; i >= 0 && at < 0; i--) {
    if (turns[i].role !== 'user') continue
    const all = [...turns[i].text.matchAll(/\[stub:([A-Za-z0-9_.-]+)\]/g)]
    if (all.length) {
      at = i
      name = all.at(-1)[1]
    }
  }
  if (!name || !hasTools) return { name, step: -1, spec: { text: 'stub title' } }
  const step = turns.slice(at + 1).filter(t => t.role === 'assistant').length
  const list = scenarios.get(name)
  const spec = list ? (list[step] ?? { text: `stub: end of script ${name}` }) : { text: `stub: no scenario ${name}` }
  return { name, step, spec: fill(spec, opt.vars, turns.findLast(t => t.out)?.out ?? '') }
}

const usageOf = spec => ({ ...DEFAULT_USAGE, ...(spec.usage ?? {}) })
const chunks = (s, n = 40) => s.match(new RegExp(`[\\s\\S]{1,${n}}`, 'g')) ?? []

// ---------------------------------------------------------------- Anthropic Messages
const textOf = content =>
  typeof content === 'string' ? content : (content ?? []).map(b => (b.type === 'text' ? b.text : '')).join('\n')

function anthropicTurns(body) {
  return (body.messages ?? []).map(m => {
    const results = Array.isArray(m.content) ? m.content.filter(b => b.type === 'tool_result') : []
    return {
      role: m.role,
      text: textOf(m.content),
      ...(results.length ? { out: results.map(b => textOf(b.content)).join('\n') } : {}),
    }
  })
}

function anthropicHeaders() {
  const h = { 'request-id': `req_${id('')}` }
  if (rateLimit) {
    let worst = null
    for (const [win, v] of Object.entries(rateLimit)) {
      h[`anthropic-ratelimit-unified-${win}-utilization`] = String(v.utilization)
      h[`anthropic-ratelimit-unified-${win}-reset`] = String(v.reset)
      h[`anthropic-ratelimit-unified-${win}-status`] = v.status ?? 'allowed'
      if (!worst || v.utilization > rateLimit[worst].utilization) worst = win
    }
    h['anthropic-ratelimit-unified-status'] = rateLimit[worst].status ?? 'allowed'
    h['anthropic-ratelimit-unified-reset'] = String(rateLimit[worst].reset)
    h['anthropic-ratelimit-unified-representative-claim'] = worst === '5h' ? 'five_hour' : 'seven_day'
    h['anthropic-ratelimit-unified-fallback-percentage'] = '0.5'
    h['anthropic-ratelimit-unified-overage-status'] = 'rejected'
  }
  return h
}

function anthropicUsage(u, output) {
  return {
    input_tokens: u.input,
    cache_creation_input_tokens: u.cache_5m + u.cache_1h,
    cache_read_input_tokens: u.cache_read,
    cache_creation: { ephemeral_5m_input_tokens: u.cache_5m, ephemeral_1h_input_tokens: u.cache_1h },
    output_tokens: output,
    service_tier: 'standard',
  }
}

function anthropic(res, body, picked) {
  const { spec } = picked
  const u = usageOf(spec)
  const content = []
  if (spec.thinking) content.push({ type: 'thinking', thinking: spec.thinking, signature: 'c3R1Yg==' })
  if (spec.text) content.push({ type: 'text', text: spec.text })
  for (const t of spec.tools ?? [])
    content.push({ type: 'tool_use', id: id('toolu_'), name: t.name, input: t.input ?? {} })
  const stop_reason = (spec.tools ?? []).length ? 'tool_use' : 'end_turn'
  const base = { id: id('msg_'), type: 'message', role: 'assistant', model: body.model }
  const headers = anthropicHeaders()
  if (!body.stream) {
    res.writeHead(200, { 'content-type': 'application/json', ...headers })
    res.end(JSON.stringify({ ...base, content, stop_reason, stop_sequence: null, usage: anthropicUsage(u, u.output) }))
    return base.id
  }
  res.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache', ...headers })
  const send = (type, data) => res.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`)
  send('message_start', {
    message: { ...base, content: [], stop_reason: null, stop_sequence: null, usage: anthropicUsage(u, 1) },
  })
  content.forEach((block, index) => {
    if (block.type === 'text') {
      send('content_block_start', { index, content_block: { type: 'text', text: '' } })
      for (const c of chunks(block.text)) send('content_block_delta', { index, delta: { type: 'text_delta', text: c } })
    } else if (block.type === 'thinking') {
      send('content_block_start', { index, content_block: { type: 'thinking', thinking: '', signature: '' } })
      send('content_block_delta', { index, delta: { type: 'thinking_delta', thinking: block.thinking } })
      send('content_block_delta', { index, delta: { type: 'signature_delta', signature: block.signature } })
    } else {
      send('content_block_start', { index, content_block: { ...block, input: {} } })
      for (const c of chunks(JSON.stringify(block.input)))
        send('content_block_delta', { index, delta: { type: 'input_json_delta', partial_json: c } })
    }
    send('content_block_stop', { index })
  })
  send('message_delta', { delta: { stop_reason, stop_sequence: null }, usage: anthropicUsage(u, u.output) })
  send('message_stop', {})
  res.end()
  return base.id
}

// ---------------------------------------------------------------- OpenAI Responses
/** Merges runs of items produced by the model into one assistant turn each. */
function responsesTurns(body) {
  const input =
    typeof body.input === 'string' ? [{ type: 'message', role: 'user', content: body.input }] : (body.input ?? [])
  const turns = []
  for (const it of input) {
    const type = it.type ?? 'message'
    const isOut = type.endsWith('_output')
    const role = isOut
      ? 'tool'
      : type === 'additional_tools'
        ? 'system'
        : type === 'message'
          ? it.role === 'assistant'
            ? 'assistant'
            : it.role === 'user'
              ? 'user'
              : 'system'
          : 'assistant'
    const text =
      typeof it.content === 'string' ? it.content : ((it.content ?? []).map?.(c => c.text ?? '').join('\n') ?? '')
    const last = turns.at(-1)
    if (role === 'assistant' && last?.role === 'assistant') last.text += `\n${text}`
    else
      turns.push({
        role,
        text,
        ...(isOut ? { out: typeof it.output === 'string' ? it.output : JSON.stringify(it.output) } : {}),
      })
  }
  return turns
}

function responses(res, body, picked) {
  const { spec } = picked
  const u = usageOf(spec)
  const respId = id('resp_')
  const output = []
  if (spec.text)
    output.push({
      type: 'message',
      id: id('msg_'),
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: spec.text, annotations: [] }],
    })
  for (const item of spec.items ?? []) output.push({ id: id('item_'), ...item })
  for (const t of spec.tools ?? []) {
    if ('raw' in t)
      output.push({
        type: 'custom_tool_call',
        id: id('ctc_'),
        status: 'completed',
        call_id: id('call_'),
        name: t.name,
        ...(t.namespace ? { namespace: t.namespace } : {}),
        input: t.raw,
      })
    else
      output.push({
        type: 'function_call',
        id: id('fc_'),
        status: 'completed',
        call_id: id('call_'),
        name: t.name,
        ...(t.namespace ? { namespace: t.namespace } : {}),
        arguments: JSON.stringify(t.input ?? {}),
      })
  }
  const usage = {
    input_tokens: u.input + u.cache_read + u.cache_5m + u.cache_1h,
    input_tokens_details: { cached_tokens: u.cache_read, cache_write_tokens: u.cache_5m + u.cache_1h },
    output_tokens: u.output,
    output_tokens_details: { reasoning_tokens: u.reasoning },
    total_tokens: u.input + u.cache_read + u.cache_5m + u.cache_1h + u.output,
  }
  const shell = {
    id: respId,
    object: 'response',
    created_at: Math.floor(Date.now() / 1000),
    model: body.model,
    parallel_tool_calls: true,
    tools: [],
    error: null,
  }
  if (!body.stream) {
    res.writeHead(200, { 'content-type': 'application/json', 'x-request-id': id('req_') })
    res.end(JSON.stringify({ ...shell, status: 'completed', output, usage }))
    return respId
  }
  res.writeHead(200, { 'content-type': 'text/event-stream', 'x-request-id': id('req_') })
  let sequence_number = 0
  const send = (type, data) =>
    res.write(`event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence_number++, ...data })}\n\n`)
  send('response.created', { response: { ...shell, status: 'in_progress', output: [] } })
  output.forEach((item, output_index) => {
    if (item.type === 'message') {
      send('response.output_item.added', { output_index, item: { ...item, status: 'in_progress', content: [] } })
      send('response.content_part.added', {
        item_id: item.id,
        output_index,
        content_index: 0,
        part: { type: 'output_text', text: '', annotations: [] },
      })
      for (const delta of chunks(item.content[0].text))
        send('response.output_text.delta', { item_id: item.id, output_index, content_index: 0, delta })
      send('response.output_text.done', {
        item_id: item.id,
        output_index,
        content_index: 0,
        text: item.content[0].text,
      })
      send('response.content_part.done', { item_id: item.id, output_index, content_index: 0, part: item.content[0] })
    } else if (item.type === 'function_call') {
      send('response.output_item.added', { output_index, item: { ...item, status: 'in_progress', arguments: '' } })
      for (const delta of chunks(item.arguments))
        send('response.function_call_arguments.delta', { item_id: item.id, output_index, delta })
      send('response.function_call_arguments.done', { item_id: item.id, output_index, arguments: item.arguments })
    } else if (item.type === 'custom_tool_call') {
      send('response.output_item.added', { output_index, item: { ...item, status: 'in_progress', input: '' } })
      send('response.custom_tool_call_input.delta', { item_id: item.id, output_index, delta: item.input })
      send('response.custom_tool_call_input.done', { item_id: item.id, output_index, input: item.input })
    }
    send('response.output_item.done', { output_index, item })
  })
  send('response.completed', { response: { ...shell, status: 'completed', output, usage } })
  res.end()
  return respId
}

// ---------------------------------------------------------------- OpenAI Chat Completions
function chatTurns(body) {
  return (body.messages ?? []).map(m => ({
    role: m.role === 'developer' ? 'system' : m.role,
    text: typeof m.content === 'string' ? m.content : (m.content ?? []).map(c => c.text ?? '').join('\n'),
    ...(m.role === 'tool' ? { out: typeof m.content === 'string' ? m.content : JSON.stringify(m.content) } : {}),
  }))
}

function chat(res, body, picked) {
  const { spec } = picked
  const u = usageOf(spec)
  const cid = id('chatcmpl-')
  const created = Math.floor(Date.now() / 1000)
  const tool_calls = (spec.tools ?? []).map((t, index) => ({
    index,
    id: id('call_'),
    type: 'function',
    function: { name: t.name, arguments: JSON.stringify(t.input ?? {}) },
  }))
  const finish_reason = tool_calls.length ? 'tool_calls' : 'stop'
  const prompt = u.input + u.cache_read + u.cache_5m + u.cache_1h
  const usage = {
    prompt_tokens: prompt,
    completion_tokens: u.output,
    total_tokens: prompt + u.output,
    prompt_tokens_details: { cached_tokens: u.cache_read },
    completion_tokens_details: { reasoning_tokens: u.reasoning },
  }
  if (!body.stream) {
    res.writeHead(200, { 'content-type': 'application/json' })
    const message = {
      role: 'assistant',
      content: spec.text ?? null,
      ...(tool_calls.length ? { tool_calls: tool_calls.map(({ index, ...t }) => t) } : {}),
    }
    res.end(
      JSON.stringify({
        id: cid,
        object: 'chat.completion',
        created,
        model: body.model,
        choices: [{ index: 0, message, finish_reason, logprobs: null }],
        usage,
      }),
    )
    return cid
  }
  res.writeHead(200, { 'content-type': 'text/event-stream' })
  const send = (delta, finish = null, extra = {}) =>
    res.write(
      `data: ${JSON.stringify({ id: cid, object: 'chat.completion.chunk', created, model: body.model, choices: [{ index: 0, delta, finish_reason: finish }], ...extra })}\n\n`,
    )
  send({ role: 'assistant', content: '' })
  for (const c of chunks(spec.text ?? '')) send({ content: c })
  for (const t of tool_calls) {
    send({ tool_calls: [{ ...t, function: { name: t.function.name, arguments: '' } }] })
    for (const c of chunks(t.function.arguments)) send({ tool_calls: [{ index: t.index, function: { arguments: c } }] })
  }
  send({}, finish_reason)
  res.write(
    `data: ${JSON.stringify({ id: cid, object: 'chat.completion.chunk', created, model: body.model, choices: [], usage })}\n\n`,
  )
  res.write('data: [DONE]\n\n')
  res.end()
  return cid
}

// ---------------------------------------------------------------- Gemini
function geminiTurns(body) {
  return (body.contents ?? []).map(c => ({
    role: c.role === 'model' ? 'assistant' : (c.parts ?? []).some(p => p.functionResponse) ? 'tool' : 'user',
    text: (c.parts ?? []).map(p => p.text ?? '').join('\n'),
  }))
}

function gemini(res, model, picked, stream) {
  const { spec } = picked
  const u = usageOf(spec)
  const parts = []
  if (spec.text) parts.push({ text: spec.text })
  for (const t of spec.tools ?? []) parts.push({ functionCall: { id: id('fc_'), name: t.name, args: t.input ?? {} } })
  const prompt = u.input + u.cache_read
  const body = {
    candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }],
    usageMetadata: {
      promptTokenCount: prompt,
      candidatesTokenCount: u.output,
      cachedContentTokenCount: u.cache_read,
      thoughtsTokenCount: u.reasoning,
      totalTokenCount: prompt + u.output + u.reasoning,
    },
    modelVersion: model,
    responseId: id('r'),
  }
  if (!stream) {
    res.writeHead(200, { 'content-type': 'application/json' })
    res.end(JSON.stringify(body))
    return body.responseId
  }
  res.writeHead(200, { 'content-type': 'text/event-stream' })
  res.end(`data: ${JSON.stringify(body)}\n\n`)
  return body.responseId
}

// ---------------------------------------------------------------- server
const json = (res, status, value, headers = {}) => {
  res.writeHead(status, { 'content-type': 'application/json', ...headers })
  res.end(JSON.stringify(value))
}

async function handle(req, res) {
  const url = new URL(req.url, 'http://stub')
  const path = url.pathname
  const raw = await readBody(req)
  let body = null
  try {
    body = raw ? JSON.parse(raw) : null
  } catch {
    body = { unparsed: raw.slice(0, 2000) }
  }

  if (path.startsWith('/__stub/')) {
    if (path === '/__stub/requests') {
      if (req.method === 'DELETE') {
        requests.length = 0
        return json(res, 200, { ok: true })
      }
      return json(res, 200, requests)
    }
    const m = path.match(/^\/__stub\/scenarios\/([A-Za-z0-9_.-]+)$/)
    if (m && req.method === 'PUT') {
      scenarios.set(m[1], body)
      return json(res, 200, { ok: true })
    }
    if (path === '/__stub/ratelimit' && req.method === 'PUT') {
      rateLimit = body
      return json(res, 200, { ok: true })
    }
    return json(res, 404, { error: 'no such control path' })
  }

  const seen = {
    n: requests.length + 1,
    t: new Date().toISOString(),
    at: performance.timeOrigin + performance.now(),
    method: req.method,
    path: url.pathname + url.search,
    headers: Object.fromEntries(
      Object.entries(req.headers).map(([k, v]) => [k, CUT.test(k) ? `${String(v).slice(0, 12)}...` : v]),
    ),
    body,
    scenario: null,
    step: null,
    served: null,
  }
  requests.push(seen)
  const log = () => opt.log && appendFileSync(opt.log, `${JSON.stringify(seen)}\n`)

  const answer = async (turns, hasTools, model, write) => {
    const picked = pick(turns, hasTools)
    seen.scenario = picked.name
    seen.step = picked.step
    log()
    if (picked.spec.delayMs) await sleep(picked.spec.delayMs)
    if (picked.spec.status)
      return json(
        res,
        picked.spec.status,
        picked.spec.error ?? { type: 'error', error: { type: 'stub_error', message: 'scripted error' } },
        picked.spec.headers,
      )
    for (const [name, value] of Object.entries(picked.spec.headers ?? {})) res.setHeader(name, value)
    seen.served = { id: write(picked), model, usage: usageOf(picked.spec) }
  }

  if (req.method === 'POST') {
    if (path.endsWith('/messages/count_tokens')) {
      log()
      return json(res, 200, { input_tokens: Math.ceil(raw.length / 4) })
    }
    if (path.endsWith('/messages'))
      return answer(anthropicTurns(body), (body.tools ?? []).length > 0, body.model, p => anthropic(res, body, p))
    if (path.endsWith('/chat/completions'))
      return answer(chatTurns(body), (body.tools ?? []).length > 0, body.model, p => chat(res, body, p))
    if (path.endsWith('/responses')) {
      // newer Codex models get their tools in an `additional_tools` input item; a json_schema format marks side requests (titles)
      const hasTools =
        ((body.tools ?? []).length > 0 ||
          (Array.isArray(body.input) && body.input.some(i => i.type === 'additional_tools'))) &&
        body.text?.format?.type !== 'json_schema'
      return answer(responsesTurns(body), hasTools, body.model, p => responses(res, body, p))
    }
    const g = path.match(/\/models\/([^/:]+):(generateContent|streamGenerateContent|countTokens)$/)
    if (g && g[2] === 'countTokens') {
      log()
      return json(res, 200, { totalTokens: Math.ceil(raw.length / 4) })
    }
    if (g)
      return answer(geminiTurns(body), (body.tools ?? []).length > 0, g[1], p =>
        gemini(res, g[1], p, g[2] === 'streamGenerateContent'),
      )
  }
  log()
  if (path.endsWith('/models') && req.method === 'GET') {
    return json(res, 200, {
      object: 'list',
      has_more: false,
      data: [
        {
          id: 'stub-model',
          type: 'model',
          object: 'model',
          owned_by: 'stub',
          display_name: 'Stub Model',
          created: 1767225600,
          created_at: '2026-01-01T00:00:00Z',
        },
      ],
      models: [],
    })
  }
  if (path === '/') {
    res.writeHead(200)
    return res.end()
  }
  return json(res, 404, {
    type: 'error',
    error: { type: 'not_found_error', message: `stub has no ${req.method} ${path}` },
  })
}

const server = http.createServer((req, res) => {
  handle(req, res).catch(e => {
    console.error(e)
    if (!res.headersSent) json(res, 500, { error: String(e) })
    else res.end()
  })
})
server.listen(opt.port, '127.0.0.1', () => {
  const { port } = server.address()
  if (opt.portFile) {
    writeFileSync(`${opt.portFile}.tmp`, String(port))
    renameSync(`${opt.portFile}.tmp`, opt.portFile)
  }
  console.log(`stub on http://127.0.0.1:${port}`)
})
setTimeout(() => process.exit(0), opt.maxMs).unref()
for (const s of ['SIGINT', 'SIGTERM']) process.on(s, () => process.exit(0))

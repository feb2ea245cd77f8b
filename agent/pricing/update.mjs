/**
 * Writes core/rate-card/prices.json from the data of @pydantic/genai-prices (MIT). Nothing of that package is shipped or imported
 * at run time. Run from the repository's root, review the diff, commit:
 *   D=$(mktemp -d) && npm i --prefix $D --ignore-scripts @pydantic/genai-prices@0.1.8 && node agent/pricing/update.mjs $D &&
 *   npx biome format --write core/rate-card/prices.json
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const PROVIDERS = ['anthropic', 'openai', 'google', 'x-ai', 'deepseek', 'mistral', 'moonshotai', 'zai', 'minimax']
// rows that are priced by other units, or that no coding agent holds a conversation with
const NOT_CHAT = /embed|image|audio|realtime|tts|transcribe|voice|voxtral|ocr|moderation|live|video|veo|sora|whisper/
const FIELDS = {
  input_mtok: 'input',
  cache_read_mtok: 'cacheRead',
  cache_write_mtok: 'cacheWrite5m',
  cache_write_1h_mtok: 'cacheWrite1h',
  output_mtok: 'output',
}

const folder = join(process.argv[2] ?? '', 'node_modules/@pydantic/genai-prices')
const about = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
const { findProvider } = await import(pathToFileURL(join(folder, 'dist/index.js')).href)

const decimal = n => n.toFixed(6).replace(/\.?0+$/, '')
const baseOf = v => (typeof v === 'object' ? v.base : v)

function figuresOf(prices) {
  const figures = {}
  const long = {}
  for (const [from, to] of Object.entries(FIELDS)) {
    const value = prices[from]
    if (value === undefined || value === null) continue
    if (Math.abs(Number(decimal(baseOf(value))) - baseOf(value)) > 1e-12)
      throw new Error(`more than 6 decimals: ${baseOf(value)}`)
    figures[to] = decimal(baseOf(value))
    for (const tier of value.tiers ?? []) {
      // several tiers: the first threshold with the dearest price, which can only be too high
      long.above = Math.min(long.above ?? tier.start, tier.start)
      if (long[to] === undefined || Number(long[to]) < tier.price) long[to] = decimal(tier.price)
    }
  }
  if (prices.web_searches_kcount !== undefined) figures.webSearches = decimal(baseOf(prices.web_searches_kcount) / 1000)
  return long.above === undefined ? figures : { ...figures, long }
}

/** Off-peak hours and the like: the dearest on each axis. */
function dearest(all) {
  const out = {}
  for (const figures of all)
    for (const [axis, value] of Object.entries(figures))
      if (axis === 'long') throw new Error('tiers and hours on one model')
      else if (out[axis] === undefined || Number(value) > Number(out[axis])) out[axis] = value
  return out
}

function entriesOf(prices) {
  if (!Array.isArray(prices)) return [figuresOf(prices)]
  const dated = prices.filter(p => p.constraint?.type === 'start_date')
  const rest = prices.filter(p => p.constraint?.type !== 'start_date').map(p => figuresOf(p.prices))
  const base = rest.length === 0 ? [] : [rest.length === 1 ? rest[0] : dearest(rest)]
  return [...base, ...dated.map(p => ({ from: p.constraint.start_date, ...figuresOf(p.prices) }))]
}

/** Whole ids only. A rule that matches a beginning is taken as the id it spells, never as a beginning. */
function aliasesOf(match, provider) {
  const found = []
  const walk = m => {
    if (m.or) m.or.forEach(walk)
    else if (m.equals) found.push(m.equals)
    else if (m.starts_with && /[a-z0-9]$/.test(m.starts_with)) found.push(m.starts_with)
  }
  walk(match)
  // a dot for a dash in this provider's ids is a misspelling that must be said, not priced
  // a dated beginning spells no id
  return found.filter(id => (provider !== 'anthropic' || !id.includes('.')) && !/-20\d\d$/.test(id))
}

const rows = []
for (const provider of PROVIDERS) {
  const models = findProvider({ providerId: provider }).models
  const ids = new Set(models.map(m => m.id))
  for (const model of models) {
    const entries = entriesOf(model.prices).filter(e => e.input !== undefined && e.output !== undefined)
    if (entries.length === 0) continue
    const taken = new Set(rows.filter(r => r.provider === provider).flatMap(r => r.aliases ?? []))
    const aliases = [...new Set([...aliasesOf(model.match, provider), model.id.replace(/-latest$/, '')])]
      .filter(id => !ids.has(id) && !taken.has(id))
      .sort()
    rows.push({
      provider,
      id: model.id,
      ...(aliases.length ? { aliases } : {}),
      ...(NOT_CHAT.test(model.id) ? { chat: false } : {}),
      entries,
    })
  }
}

// a model that the data drops may have usage: it keeps the prices it had
const TARGET = 'core/rate-card/prices.json'
const listed = new Set(rows.map(row => `${row.provider}/${row.id}`))
for (const row of JSON.parse(readFileSync(TARGET, 'utf8')).rows)
  if (!listed.has(`${row.provider}/${row.id}`)) rows.push(row)

const source = {
  package: about.name,
  version: about.version,
  licence: 'MIT, Copyright (c) Pydantic Services Inc. 2025 to present',
  homepage: about.homepage,
  taken: new Date().toISOString().slice(0, 10),
}
const head = JSON.stringify({ name: `${about.name}@${about.version}`, source }, null, 2).slice(0, -2)
writeFileSync(TARGET, `${head},\n  "rows": [\n${rows.map(r => `    ${JSON.stringify(r)}`).join(',\n')}\n  ]\n}\n`)
console.log(`${rows.length} models`)

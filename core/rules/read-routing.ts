import { type Findings, nearest } from '#core/boundary/problem.ts'
import { readWhen } from '#core/boundary/read-condition.ts'
import { refuseUnknownKeys } from '#core/boundary/read-rule.ts'
import { isNothing, itemsOf } from '#core/boundary/sections.ts'
import type { Condition } from '#core/boundary/shape.ts'
import { describeTree, entryOf, type Tree, type TreeEntry, type TreeMap } from '#core/boundary/tree.ts'
import { isLoopbackHost } from '#core/loopback.ts'
import { clip } from '#core/plain-text.ts'
import { PROVIDERS, type Provider } from '#core/pricing.ts'
import { NO_ROUTING, ROUTE_MODES, type RouteRule, type Routing, type Upstream, withDefaults } from '#core/routing.ts'
import { MODEL_ID } from '#core/usage/bucket.ts'
import { readNamed } from './check.ts'
import { readChoice, readMap, required, writtenText } from './fields.ts'
import { MAX_ROUTES, MAX_UPSTREAMS } from './limits.ts'

const ROUTING_KEYS = ['mode', 'hard_stop', 'upstreams', 'rules'] as const
const RULE_KEYS = ['name', 'from', 'to', 'provider', 'when'] as const
const UPSTREAM_KEYS = ['url', 'provider'] as const
const NAME = /^[a-z0-9][a-z0-9_-]{0,39}$/
/** Paths of the proxy's own. */
const RESERVED = ['s', 'holdpoint']
/** A model's id in which `*` stands for any run of characters. */
const PATTERN = /^[A-Za-z0-9*][A-Za-z0-9._:/@[\]*-]{0,99}$/
const EXAMPLE = 'routing: { mode: observe, rules: [{ name: cheaper, from: claude-opus-4-1, to: claude-opus-4-6 }] }'
const RULE = '{ name: cheaper, from: claude-opus-4-1, to: claude-opus-4-6 }'

/** `routing:` of config.yaml: the local proxy's upstreams and its router's rules. Undefined where there is none. */
export function readRouting(tree: Tree | undefined, findings: Findings): Routing | undefined {
  if (tree === undefined || isNothing(tree)) return undefined
  const map = readMap(tree, 'routing', EXAMPLE, findings)
  if (map === undefined) return undefined
  refuseUnknownKeys(map, ROUTING_KEYS, 'routing', findings)
  const modeEntry = entryOf(map, 'mode')
  const mode = modeEntry === undefined ? undefined : readChoice(modeEntry, ROUTE_MODES, findings)
  const stopEntry = entryOf(map, 'hard_stop')
  const hardStop = stopEntry === undefined ? undefined : readFlag(stopEntry, findings)
  const rules = readNamed(
    itemsOf(entryOf(map, 'rules')?.value, 'rules', MAX_ROUTES, findings),
    'route',
    item => readRoute(item, findings),
    findings,
  )
  return {
    mode: mode ?? NO_ROUTING.mode,
    hardStop: hardStop ?? NO_ROUTING.hardStop,
    upstreams: withDefaults(readUpstreams(entryOf(map, 'upstreams'), findings)),
    rules,
  }
}

function readFlag({ key, value }: TreeEntry, findings: Findings): boolean | undefined {
  if (value.kind === 'scalar' && typeof value.value === 'boolean') return value.value
  findings.error(value, 'bad_value', `${key} cannot be ${describeTree(value)}`, 'write true or false')
  return undefined
}

function readName(map: TreeMap, what: string, findings: Findings): string | undefined {
  const entry = required(map, 'name', what, 'add a name', findings)
  const text = entry && writtenText(entry.value)
  if (text !== undefined && NAME.test(text)) return text
  if (entry) refuseName(entry.value, `${describeTree(entry.value)} is not the name of ${what}`, findings)
  return undefined
}

const refuseName = (at: Tree | TreeEntry['keyAt'], message: string, findings: Findings) =>
  findings.error(at, 'bad_name', message, 'use lower-case letters, digits, - and _, a letter or digit first')

function readRoute(tree: Tree, findings: Findings): RouteRule | undefined {
  const map = readMap(tree, 'a route', RULE, findings)
  if (map === undefined) return undefined
  const before = findings.errors.length
  refuseUnknownKeys(map, RULE_KEYS, 'a route', findings)
  const name = readName(map, 'a route', findings)
  const from = readModel(required(map, 'from', 'the route', 'add from: and a model’s id', findings), PATTERN, findings)
  const toEntry = required(map, 'to', 'the route', 'add to: and a model’s exact id', findings)
  const to = readModel(toEntry, MODEL_ID, findings)
  if (toEntry && from !== undefined && from === to)
    findings.error(toEntry.value, 'bad_value', `${from} is routed to itself`, 'write another model')
  const providerEntry = entryOf(map, 'provider')
  const provider = providerEntry === undefined ? undefined : readChoice(providerEntry, PROVIDERS, findings)
  const { when, subagent } = readFacts(entryOf(map, 'when')?.value, findings)
  if (findings.errors.length > before || name === undefined || from === undefined || to === undefined) return undefined
  return {
    name,
    from,
    to,
    when,
    ...(provider === undefined ? {} : { provider }),
    ...(subagent === undefined ? {} : { subagent }),
  }
}

function readModel(entry: TreeEntry | undefined, form: RegExp, findings: Findings): string | undefined {
  if (entry === undefined) return undefined
  const text = writtenText(entry.value)
  if (text !== undefined && form.test(text)) return text
  const isPattern = text !== undefined && PATTERN.test(text)
  const remedy = isPattern ? 'write one exact id: only from takes a *' : 'write a model’s id as the provider gives it'
  findings.error(entry.value, 'bad_value', `${entry.key} cannot be ${describeTree(entry.value)}`, remedy)
  return undefined
}

/** `when:` of a route: `subagent`, and what is left of the provider's plan as boundaries compare it. */
function readFacts(
  tree: Tree | undefined,
  findings: Findings,
): { when: readonly Condition[]; subagent: boolean | undefined } {
  if (tree === undefined || isNothing(tree)) return { when: [], subagent: undefined }
  const map = readMap(tree, 'when', 'when: { plan_left_pct: "< 20", window: week }', findings)
  if (map === undefined) return { when: [], subagent: undefined }
  const own = entryOf(map, 'subagent')
  const subagent = own === undefined ? undefined : readFlag(own, findings)
  const entries = map.entries.filter(entry => entry !== own)
  for (const { key, keyAt } of entries) {
    if (key === 'plan_left_pct' || key === 'window') continue
    const near = nearest(key, ['plan_left_pct', 'window', 'subagent'])
    const remedy = near === undefined ? 'use plan_left_pct, window or subagent' : `did you mean ${near}?`
    findings.error(keyAt, 'unknown_condition', `a route is not chosen by ${clip(key)}`, remedy)
  }
  const known = entries.filter(({ key }) => key === 'plan_left_pct' || key === 'window')
  const context = { scope: 'local', action: 'model_route' } as const
  return { when: known.length === 0 ? [] : readWhen({ ...map, entries: known }, context, findings), subagent }
}

function readUpstreams(entry: TreeEntry | undefined, findings: Findings): Upstream[] {
  if (entry === undefined || isNothing(entry.value)) return []
  const map = readMap(entry.value, 'upstreams', '{ deepseek: https://api.deepseek.com }', findings)
  if (map === undefined) return []
  if (map.entries.length > MAX_UPSTREAMS) {
    const message = `upstreams has ${map.entries.length} entries`
    findings.error(entry.value, 'too_many', message, `use at most ${MAX_UPSTREAMS}`)
    return []
  }
  return map.entries.flatMap(({ key, keyAt, value }) => {
    if (!NAME.test(key) || RESERVED.includes(key)) {
      refuseName(keyAt, `${clip(key)} is not the name of an upstream`, findings)
      return []
    }
    return readUpstream(key, value, findings) ?? []
  })
}

function readUpstream(name: string, tree: Tree, findings: Findings): Upstream | undefined {
  const isMap = tree.kind === 'map'
  if (isMap) refuseUnknownKeys(tree, UPSTREAM_KEYS, 'an upstream', findings)
  const example = `${name}: https://api.example.com`
  const urlTree = isMap ? required(tree, 'url', 'the upstream', `write ${example}`, findings)?.value : tree
  const providerEntry = isMap ? entryOf(tree, 'provider') : undefined
  const provider = providerEntry
    ? readChoice(providerEntry, PROVIDERS, findings)
    : (PROVIDERS.find(one => one === name) ?? 'other')
  const url = urlTree && readUrl(urlTree, findings)
  return url === undefined || provider === undefined ? undefined : { name, url, provider: provider as Provider }
}

/** An https address, or an http one on loopback: a key must not go over a network in the clear. No slash at its end. */
function readUrl(tree: Tree, findings: Findings): string | undefined {
  const text = writtenText(tree)
  const url = text !== undefined && URL.canParse(text) ? new URL(text) : undefined
  if (
    url === undefined ||
    !/^https?:$/.test(url.protocol) ||
    url.username !== '' ||
    url.search !== '' ||
    url.hash !== ''
  ) {
    const message = `${describeTree(tree)} is not an upstream’s address`
    findings.error(tree, 'bad_value', message, 'write https://host/path, without a name, a query or a fragment in it')
    return undefined
  }
  if (url.protocol === 'http:' && !isLoopbackHost(url.hostname)) {
    const message = `${clip(text ?? '')} would carry keys over the network in the clear`
    findings.error(tree, 'bad_value', message, 'write https://, or an address of this machine')
    return undefined
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`
}

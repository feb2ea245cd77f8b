import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildConnector } from '#agent/build.mjs'

/** What a machine downloads. A new package shows up here before it shows up on a thousand machines. */
const PACKAGES = ['smol-toml', 'yaml', 'zod']
/** Downloaded once a version, readable as it is: a third of a second on a slow line. */
const HOLDPOINT_BYTES = 2_000_000
/** Started on every call of an agent: Node reads and compiles it each time. */
const HOOK_BYTES = 24_000
/** Started each time that the client draws its status line. */
const STATUSLINE_FILES = /^agent\/(statusline\/|figures\/status-|hook\/|regular-file\.ts$)/
const HOOK_FILES = /^(agent\/(hook|guard)\/|agent\/regular-file\.ts$|core\/)/

type Meta = { inputs: Record<string, { bytes: number; imports: { path: string; external?: boolean }[] }> }

let out: string
let meta: Record<'holdpoint.cjs' | 'hook.cjs' | 'statusline.cjs', Meta>
let manifest: { version: string; sha256: string; bytes: number }
const read = (name: string) => readFileSync(path.join(out, name), 'utf8')

beforeAll(async () => {
  out = mkdtempSync(path.join(os.tmpdir(), 'connector-'))
  manifest = await buildConnector({ out })
  meta = JSON.parse(read('meta.json'))
})
afterAll(() => rmSync(out, { recursive: true, force: true }))

function packagesIn({ inputs }: Meta): string[] {
  const names = Object.keys(inputs).flatMap(file => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? [])
  return [...new Set(names)].sort()
}

function leftOutside({ inputs }: Meta): string[] {
  const outside = Object.values(inputs).flatMap(({ imports }) =>
    imports.filter(({ external }) => external).map(at => at.path),
  )
  return [...new Set(outside)].filter(name => !isBuiltin(name))
}

test('the connector carries no package but the known ones', () => {
  expect(packagesIn(meta['holdpoint.cjs']).filter(name => !PACKAGES.includes(name))).toEqual([])
})

test('the connector needs nothing that is not in it, save Node itself', () => {
  expect(leftOutside(meta['holdpoint.cjs'])).toEqual([])
  expect(leftOutside(meta['hook.cjs'])).toEqual([])
  expect(leftOutside(meta['statusline.cjs'])).toEqual([])
})

test('the connector carries nothing of the server', () => {
  const strangers = Object.keys(meta['holdpoint.cjs'].inputs).filter(file => !/^(agent|core|node_modules)\//.test(file))
  expect(strangers).toEqual([])
})

test('the program that a client starts on every call is its own few files', () => {
  expect(Object.keys(meta['hook.cjs'].inputs).filter(file => !HOOK_FILES.test(file))).toEqual([])
  expect(Object.keys(meta['statusline.cjs'].inputs).filter(file => !STATUSLINE_FILES.test(file))).toEqual([])
})

test('none has grown past its budget', () => {
  expect(read('holdpoint.cjs').length).toBeLessThan(HOLDPOINT_BYTES)
  expect(read('hook.cjs').length).toBeLessThan(HOOK_BYTES)
  expect(read('statusline.cjs').length).toBeLessThan(HOOK_BYTES)
})

test('the one file that is downloaded carries the others', () => {
  // a text within a text: some of its characters stand there in another spelling
  const spelled = (text: string) => text.replace(/[\\`$"'\s]|\\n/g, '')
  const whole = spelled(read('holdpoint.cjs'))
  for (const name of ['hook.cjs', 'statusline.cjs']) expect(whole).toContain(spelled(read(name)))
})

test('the same sources give the same bytes', async () => {
  const again = mkdtempSync(path.join(os.tmpdir(), 'connector-'))
  try {
    expect(await buildConnector({ out: again })).toEqual(manifest)
  } finally {
    rmSync(again, { recursive: true, force: true })
  }
})

import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { root } from '#server/boot/environment.mjs'
import { projectFiles } from './sources.ts'

/** Written in two parts, so that this file does not hold what it looks for. */
const HOSTS = [
  'registry.npm' + 'js.org',
  'registry.yarn' + 'pkg.com',
  'deb.deb' + 'ian.org',
  'files.python' + 'hosted.org',
]
const LATER = new RegExp(`\\b(${['TO' + 'DO', 'FIX' + 'ME', 'XX' + 'X'].join('|')})\\b`)
/** Folders of the machine that somebody worked on. */
const MACHINE = /(?<![\w.~*\]})-])\/(work|root|Users)\/[a-z]/
/** Papers that were written while this was planned and are no part of it: a comment says the thing itself. Public ones have names. */
const PAPERS = new RegExp(
  `\\b(${['DES' + 'IGN', 'TRU' + 'ST', 'STY' + 'LE'].join('|')})\\b|(?<!OF )\\bCONT${'RACT'}\\b|^(?!.*\\bRFC ?\\d).*\u00a7|\\bthe seeds? sa(y|id)|\\bresearch/`,
)
const EMOJI = /\p{Emoji_Presentation}|\uFE0F/u

const BINARY = /\.(png|jpg|ico|woff2?|gz|zip|wasm)$/
/** Recorded bytes of real clients: kept as they came. */
const RECORDED = /^test\/clients\/payloads\//

const texts = projectFiles()
  .filter(file => !BINARY.test(file) && file !== 'package-lock.json')
  .map(file => ({ file, text: readFileSync(path.join(root, file), 'utf8') }))
const own = texts.filter(({ file }) => !RECORDED.test(file))

/** The places where a pattern stands. */
function places(found: typeof texts, pattern: RegExp): string[] {
  return found.flatMap(({ file, text }) =>
    text
      .split('\n')
      .flatMap((line, index) => (pattern.test(line) ? [`${file}:${index + 1}: ${line.trim().slice(0, 100)}`] : [])),
  )
}

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

test('no package registry is named', () => {
  const configured = execFileSync('npm', ['config', 'get', 'registry'], {
    cwd: root,
    encoding: 'utf8',
    shell: process.platform === 'win32',
  })
  const hosts = [...HOSTS, new URL(configured.trim()).host].filter(host => !/^(localhost|127\.0\.0\.1)\b/.test(host))
  expect(places(texts, new RegExp(hosts.map(escaped).join('|')))).toEqual([])
})

test('the lockfile names packages and their digests, and no place to get them from', () => {
  const { packages } = JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { resolved?: string; integrity?: string; inBundle?: boolean }>
  }
  const entries = Object.entries(packages).filter(([place]) => place !== '')
  expect(entries.filter(([, { resolved }]) => resolved).map(([place]) => place)).toEqual([])
  expect(entries.filter(([, { integrity, inBundle }]) => !integrity && !inBundle).map(([place]) => place)).toEqual([])
})

test("no path of somebody's machine stands in a file", () => {
  expect(places(own, MACHINE)).toEqual([])
})

test('nothing is left for later in a comment', () => {
  expect(places(own, LATER)).toEqual([])
})

test('no comment sends the reader to a paper that is not here', () => {
  expect(places(own, PAPERS)).toEqual([])
})

test('no emoji', () => {
  expect(places(own, EMOJI)).toEqual([])
})

test.each([
  [MACHINE, `cd /${'work'}/main`],
  [LATER, `// ${'TO' + 'DO'}: later`],
  [PAPERS, ` * Joins (${'TRU' + 'ST'} section 6)`],
  [PAPERS, ' * as it stands in \u00a76.3'],
  [PAPERS, `// see CONT${'RACT'}: the loopback door`],
  [EMOJI, String.fromCodePoint(0x1f680)],
])('%s is found where it stands', (pattern, line) => {
  expect(places([{ file: 'a', text: line }], pattern)).toHaveLength(1)
})

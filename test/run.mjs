// `npm test`: everything, from a fresh clone, closing with one line `N passed, N failed`. Plain Node: nothing need be
// installed. `npm test -- lint types` runs some of the parts.
import fs from 'node:fs'
import path from 'node:path'
import { endChildren, ended, startChild } from '../server/boot/child.mjs'
import { root } from '../server/boot/environment.mjs'
import { ensureGenerated, ensureInstalled, seconds } from '../server/boot/install.mjs'
import { ensureClients, ensurePrograms } from './provide.mjs'

/** @typedef {{ passed: number, failed: number, skipped: number }} Count */

const RESULTS = path.join(root, 'test-results')
const bin = name => path.join(root, 'node_modules', name)
const say = line => console.log(line)

/** Runs Node on a file; the exit code. */
function node(args, env = {}) {
  return ended(
    startChild(process.execPath, args, { cwd: root, env: { ...process.env, NEXT_TELEMETRY_DISABLED: '1', ...env } }),
  )
}

/** A part that passes or fails as a whole. */
async function whole(...commands) {
  for (const args of commands) if ((await node(args)) !== 0) return { passed: 0, failed: 1, skipped: 0 }
  return { passed: 1, failed: 0, skipped: 0 }
}

/** A runner that writes its own account; when it wrote none, or failed without a failed test, that is one failure. */
async function counted(args, env, file, read) {
  fs.rmSync(file, { force: true })
  const code = await node(args, env)
  const count = fs.existsSync(file)
    ? read(JSON.parse(fs.readFileSync(file, 'utf8')))
    : { passed: 0, failed: 0, skipped: 0 }
  if ((code !== 0 && count.failed === 0) || count.passed + count.failed === 0) count.failed++
  return count
}

/** A file that could not be loaded has no failed tests, and is one failure. */
function readVitest({ numPassedTests, numFailedTests, numPendingTests, numTodoTests, testResults }) {
  const broken = testResults.filter(
    file => file.status === 'failed' && !file.assertionResults.some(one => one.status === 'failed'),
  )
  return { passed: numPassedTests, failed: numFailedTests + broken.length, skipped: numPendingTests + numTodoTests }
}

function readPlaywright({ stats, errors }) {
  const failed = stats.unexpected + stats.flaky + (stats.unexpected === 0 ? errors.length : 0)
  return { passed: stats.expected, failed, skipped: stats.skipped }
}

const vitestFile = path.join(RESULTS, 'vitest.json')
const playwrightFile = path.join(root, '.data/playwright.json') // outside the folder that Playwright empties

/** Name → what it runs, in order. */
const PARTS = {
  lint: () => whole([bin('@biomejs/biome/bin/biome'), 'check', '.']),
  types: () => whole([bin('next/dist/bin/next'), 'typegen'], [bin('typescript/bin/tsc'), '--noEmit']),
  schema: () => whole(['prisma/new-migration.mjs', '--check']),
  unit: () =>
    counted(
      [bin('vitest/vitest.mjs'), 'run', '--reporter=default', '--reporter=json', `--outputFile.json=${vitestFile}`],
      {},
      vitestFile,
      readVitest,
    ),
  build: () => whole(['server/boot/build.mjs']),
  e2e: () =>
    counted(
      [bin('@playwright/test/cli.js'), 'test', '--reporter=list,json'],
      { PLAYWRIGHT_JSON_OUTPUT_FILE: playwrightFile },
      playwrightFile,
      readPlaywright,
    ),
}

async function provide() {
  await ensureInstalled(say, { dev: true })
  await ensureGenerated(say)
  await ensurePrograms(say)
  await ensureClients(say)
}

async function runPart(name) {
  say(`\n== ${name}`)
  const started = Date.now()
  const count = await PARTS[name]().catch(error => {
    say(error.message)
    return { passed: 0, failed: 1, skipped: 0 }
  })
  say(`== ${name}: ${words(count)} in ${seconds(started)}`)
  return count
}

function words({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`
}

async function main() {
  const chosen = process.argv.slice(2)
  const unknown = chosen.filter(name => !(name in PARTS))
  if (unknown.length > 0)
    throw new Error(`there is no part ${unknown.join(', ')}; there are ${Object.keys(PARTS).join(', ')}`)
  await provide()
  const total = { passed: 0, failed: 0, skipped: 0 }
  const failed = new Set()
  for (const name of chosen.length > 0 ? chosen : Object.keys(PARTS)) {
    if (name === 'e2e' && failed.has('build')) {
      say('\n== e2e: not run, because the build failed')
      total.failed++
      continue
    }
    const count = await runPart(name)
    if (count.failed > 0) failed.add(name)
    for (const key of Object.keys(total)) total[key] += count[key]
  }
  if (failed.size > 0) say(`\nFailed: ${[...failed].join(', ')}`)
  return total
}

for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => endChildren(25_000).then(() => process.exit(130)))
fs.mkdirSync(path.dirname(playwrightFile), { recursive: true })
const total = await main().catch(error => {
  console.error(`\n${error.message}`)
  return { passed: 0, failed: 1, skipped: 0 }
})
say(`\n${words(total)}`)
process.exitCode = total.failed > 0 || total.passed === 0 ? 1 : 0

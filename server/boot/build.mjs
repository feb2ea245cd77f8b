// `npm run build`, and the build that `npm start` makes when the sources changed since the last one.
import fs from 'node:fs'
import path from 'node:path'
import readline from 'node:readline'
import { pathToFileURL } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { ended, startChild } from './child.mjs'
import { root } from './environment.mjs'
import { fingerprint } from './fingerprint.mjs'
import { ensureGenerated, ensureInstalled, seconds } from './install.mjs'

const OUT = path.join(root, '.next/standalone')
const STAMP = path.join(root, '.next/holdpoint-sources')
/** The bundle that puts the demo organisation into an empty database. */
export const SEED = path.join(root, '.next/boot/seed.mjs')
/** The bundle that makes one more organisation. */
export const ORGANISATION = path.join(root, '.next/boot/organisation.mjs')
/** The server as Next builds it, with everything it needs beside it. */
export const SERVER = path.join(OUT, 'server.js')

/**
 * Builds unless the last build was made from exactly these sources.
 * @param {(line: string) => void} say
 */
export async function ensureBuilt(say) {
  const sources = fingerprint()
  const stamp = fs.existsSync(STAMP) ? fs.readFileSync(STAMP, 'utf8') : ''
  if (stamp === sources && fs.existsSync(SERVER) && fs.existsSync(ORGANISATION)) return
  say(`Building ${stamp ? '(the sources changed)' : '(about half a minute)'} ...`)
  const started = Date.now()
  fs.rmSync(STAMP, { force: true })
  await build()
  fs.writeFileSync(STAMP, sources) // last: a build that was cut short is made again
  say(`Built in ${seconds(started)}.`)
}

async function build() {
  const env = { ...process.env, NEXT_TELEMETRY_DISABLED: '1', NODE_ENV: 'production' }
  const next = path.join(root, 'node_modules/next/dist/bin/next')
  // What `next dev` knew of pages that may be gone by now; Next would have it type-checked.
  fs.rmSync(path.join(root, '.next/dev/types'), { recursive: true, force: true })
  await runNext(next, env)
  copyStatic('.next/static')
  copyStatic('public')
  await bundleParts() // after Next, which empties its folder first
}

/** With its progress, and without the table of every route that it ends with. */
async function runNext(next, env) {
  const child = startChild(process.execPath, [next, 'build'], { cwd: root, env, stdio: ['ignore', 'pipe', 'inherit'] })
  let quiet = false
  for await (const line of readline.createInterface(child.stdout)) {
    quiet ||= /^Route \(app\)/.test(stripVTControlCharacters(line)) && !process.env.HOLDPOINT_DEBUG
    if (!quiet && line.trim() !== '') console.log(line)
  }
  if ((await ended(child)) !== 0) throw new Error('`next build` did not succeed')
}

/** Next leaves these out of the standalone folder because a CDN could serve them. */
function copyStatic(folder) {
  const to = path.join(OUT, folder)
  fs.rmSync(to, { recursive: true, force: true })
  if (fs.existsSync(path.join(root, folder))) fs.cpSync(path.join(root, folder), to, { recursive: true })
}

/** What stands beside the pages: the connector that the server hands out, the seed, and the maker of organisations. */
export async function bundleParts() {
  const { buildConnector } = await import(pathToFileURL(path.join(root, 'agent/build.mjs')).href)
  await buildConnector()
  await bundleEntry('server/boot/seed.ts', SEED)
  await bundleEntry('server/boot/organisation.ts', ORGANISATION)
}

/** Packages stay outside: these run beside node_modules. */
async function bundleEntry(entry, outfile) {
  const { build: bundle } = await import('esbuild')
  await bundle({
    absWorkingDir: root,
    entryPoints: [entry],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    conditions: ['react-server'],
    logLevel: 'warning',
  })
}

async function main() {
  const say = line => console.log(line)
  await ensureInstalled(say)
  await ensureGenerated(say)
  await ensureBuilt(say)
}

if (process.argv[1] === path.join(root, 'server/boot/build.mjs')) {
  await main().catch(error => {
    console.error(`\n${error.message}`)
    process.exitCode = 1
  })
}

// What the tests need and the product does not: a browser, a terminal to drive, and the real clients. Node's own modules only.
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { runChild, runNpm } from '../server/boot/child.mjs'
import { root } from '../server/boot/environment.mjs'

const TRIES = 3

const SYSTEM = `${process.platform}-${process.arch}`
/** Codex names the place of its program by the compiler's name of the system. */
const TRIPLES = {
  'linux-x64': 'x86_64-unknown-linux-musl',
  'linux-arm64': 'aarch64-unknown-linux-musl',
  'darwin-x64': 'x86_64-apple-darwin',
  'darwin-arm64': 'aarch64-apple-darwin',
}

/**
 * The real clients, pinned: what they send, obey and write was measured with these versions. Never dependencies of the product.
 * `program`: what the tests start, below node_modules; one of the packages' scripts would only link to it. A library has none.
 */
const CLIENTS = [
  {
    folder: 'claude',
    name: '@anthropic-ai/claude-code',
    version: '2.1.332',
    program: `@anthropic-ai/claude-code-${SYSTEM}/claude`,
  },
  {
    folder: 'codex',
    name: '@openai/codex',
    version: '0.171.0',
    program: `@openai/codex-${SYSTEM}/vendor/${TRIPLES[SYSTEM]}/bin/codex`,
  },
  { folder: 'opencode', name: 'opencode-ai', version: '1.18.33', program: `opencode-${SYSTEM}/bin/opencode` },
  // opencode installs this into each folder of its settings and waits for it: the tests put a copy there, as there is no registry
  { folder: 'opencode-plugin', name: '@opencode-ai/plugin', version: '1.18.33' },
  { folder: 'gemini', name: '@google/gemini-cli', version: '0.61.0', program: '@google/gemini-cli/bundle/gemini.js' },
  { folder: 'copilot', name: '@github/copilot', version: '1.0.102', program: `@github/copilot-${SYSTEM}/copilot` },
]

/** Program → the Debian package that has it. */
const PROGRAMS = { chromium: 'chromium', tmux: 'tmux', ip: 'iproute2', sqlite3: 'sqlite3' }

function isThere(program) {
  if (program === 'chromium' && fs.existsSync(process.env.CHROMIUM ?? '/usr/bin/chromium')) return true
  const places = [...(process.env.PATH ?? '').split(path.delimiter), '/usr/sbin', '/sbin']
  return program !== 'chromium' && places.some(place => fs.existsSync(path.join(place, program)))
}

async function withRetry(what, work) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (attempt === TRIES) throw error
      console.log(`${what} did not succeed (${error.message}); trying again ...`)
      await new Promise(resolve => setTimeout(resolve, 2000 * attempt))
    }
  }
}

/** Installs missing system programs where that can be done without asking; otherwise says what to install. */
export async function ensurePrograms(say) {
  const packages = Object.entries(PROGRAMS).flatMap(([program, name]) => (isThere(program) ? [] : [name]))
  if (packages.length === 0) return
  const words = `the tests need ${packages.join(', ')}: apt-get install ${packages.join(' ')}`
  const mayInstall = process.getuid?.() === 0 && fs.existsSync('/usr/bin/apt-get')
  if (!mayInstall) throw new Error(`${words} (or your system's way; CHROMIUM=<path> names another Chromium)`)
  say(`Installing ${packages.join(', ')} ...`)
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const quiet = { env, stdio: ['ignore', 'ignore', 'inherit'] }
  await withRetry('apt-get', async () => {
    await runChild('apt-get', ['update', '-qq'], quiet)
    await runChild('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...packages], quiet)
  })
}

/** The real clients, one after the other into ignored folders (1.5 GB), without running any script of their packages. */
export async function ensureClients(say) {
  for (const client of CLIENTS) await ensureClient(client, say)
}

async function ensureClient({ folder, name, version, program }, say) {
  const place = path.join(root, '.clients', folder)
  const file = program && path.join(place, 'node_modules', program)
  const done = path.join(place, 'installed.txt') // written last: an install that was cut off is begun again
  const wanted = `${name}@${version} ${SYSTEM}\n`
  if (readIfThere(done) === wanted && (!file || fs.existsSync(file))) return
  say(`Installing ${name}@${version} for the tests ...`)
  fs.rmSync(done, { force: true })
  fs.mkdirSync(path.join(place, 'home'), { recursive: true })
  fs.writeFileSync(path.join(place, 'package.json'), '{ "private": true }\n')
  const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', `${name}@${version}`]
  await withRetry('npm install', () => runNpm(args, { cwd: place, stdio: ['ignore', 'ignore', 'inherit'] }))
  const found = JSON.parse(fs.readFileSync(path.join(place, 'node_modules', name, 'package.json'), 'utf8')).version
  if (found !== version) throw new Error(`${name} is ${found} where ${version} was asked for`)
  if (file) checkProgram(file, { name, version, home: path.join(place, 'home') })
  fs.writeFileSync(done, wanted)
}

/** Starts the program once, with a home of its own (Copilot unpacks itself there, which its tests then share). */
function checkProgram(file, { name, version, home }) {
  if (!fs.existsSync(file)) throw new Error(`${name}@${version} has no build for this system (${SYSTEM})`)
  const [command, ...args] = file.endsWith('.js') ? [process.execPath, file] : [file]
  const env = { PATH: process.env.PATH, HOME: home }
  const said = execFileSync(command, [...args, '--version'], { env, encoding: 'utf8', timeout: 60_000 })
  if (!said.includes(version)) throw new Error(`${name}@${version} says that it is ${said.trim()}`)
}

function readIfThere(file) {
  return fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : undefined
}

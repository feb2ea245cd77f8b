// What the tests need and the product does not: a browser, a terminal to drive, and the real client. Node's own modules only.
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { runChild, runNpm } from '../server/boot/child.mjs'
import { root } from '../server/boot/environment.mjs'

/** Pinned: what it sends and obeys was measured with this version. Never a dependency of the product. */
const CLAUDE = '@anthropic-ai/claude-code@2.1.332'
const CLAUDE_FOLDER = path.join(root, '.clients/claude')
const TRIES = 3

/** Program → the Debian package that has it. */
const PROGRAMS = { chromium: 'chromium', tmux: 'tmux', ip: 'iproute2' }

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

/** The real Claude Code, into an ignored folder, without running any script of its package. */
export async function ensureClaude(say) {
  const platform = `claude-code-${process.platform}-${process.arch}`
  const binary = path.join(CLAUDE_FOLDER, 'node_modules/@anthropic-ai', platform, 'claude')
  const wanted = CLAUDE.slice(CLAUDE.lastIndexOf('@') + 1)
  if (versionOf(path.dirname(binary)) === wanted && fs.existsSync(binary)) return
  say(`Installing ${CLAUDE} for the tests ...`)
  fs.mkdirSync(CLAUDE_FOLDER, { recursive: true })
  fs.writeFileSync(path.join(CLAUDE_FOLDER, 'package.json'), '{ "private": true }\n')
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock', '--loglevel=error']
  await withRetry('npm install', () =>
    runNpm(['install', ...options, CLAUDE], { cwd: CLAUDE_FOLDER, stdio: ['ignore', 'ignore', 'inherit'] }),
  )
  if (!fs.existsSync(binary)) throw new Error(`${CLAUDE} has no build for this system (${platform})`)
  execFileSync(binary, ['--version'], { stdio: 'ignore', timeout: 30_000 })
}

function versionOf(folder) {
  try {
    return JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8')).version
  } catch {
    return undefined
  }
}

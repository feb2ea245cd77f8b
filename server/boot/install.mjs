// Brings node_modules and the generated database client in line with the clone. Node's own modules only.
import fs from 'node:fs'
import path from 'node:path'
import { runChild, runNpm } from './child.mjs'
import { root } from './environment.mjs'

/**
 * Installs when node_modules is missing, half-made or of another lockfile.
 * @param {(line: string) => void} say
 * @param {{ dev?: boolean }} [need] `dev`: whether what only tests need must be there too
 */
export async function ensureInstalled(say, { dev = false } = {}) {
  const lock = path.join(root, 'package-lock.json')
  const installed = path.join(root, 'node_modules/.package-lock.json') // npm writes it last
  if (isCurrent(lock, installed, dev)) return
  say(
    `${fs.existsSync(installed) ? 'The packages are out of date: installing' : 'Installing packages'} (about half a minute) ...`,
  )
  const started = Date.now()
  await runNpm(['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    failure: 'npm ci did not succeed; its words are above. `npm start` begins where this ended.',
  })
  say(`Installed in ${seconds(started)}.`)
}

function isCurrent(lock, installed, dev) {
  if (!fs.existsSync(installed)) return false
  if (fs.statSync(installed).mtimeMs >= fs.statSync(lock).mtimeMs) return dev ? !lacksDev(lock, installed) : true
  return !differs(lock, installed, dev)
}

function packages(file) {
  return JSON.parse(fs.readFileSync(file, 'utf8')).packages
}

/** A checkout touches the lockfile without changing it, so what it says is compared. */
function differs(lock, installed, dev) {
  const have = packages(installed)
  return Object.entries(packages(lock)).some(([place, wanted]) => {
    if (place === '') return false
    const found = have[place]
    if (found) return found.version !== wanted.version || found.integrity !== wanted.integrity
    return !wanted.optional && !wanted.peer && (dev || !wanted.dev) && !wanted.devOptional
  })
}

function lacksDev(lock, installed) {
  const have = packages(installed)
  return Object.entries(packages(lock)).some(([place, wanted]) => wanted.dev && !wanted.optional && !have[place])
}

/**
 * Generates the database client when it is missing or of another schema.
 * @param {(line: string) => void} say
 */
export async function ensureGenerated(say) {
  const schema = path.join(root, 'prisma/schema.prisma')
  if (!fs.existsSync(schema)) return
  if (words(generatedFrom()) === words(fs.readFileSync(schema, 'utf8'))) return
  say('Generating the database client ...')
  await runChild(process.execPath, [path.join(root, 'node_modules/prisma/build/index.js'), 'generate'], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
    failure: '`prisma generate` did not succeed',
  })
}

/** The client carries the schema that it was made from, with its columns aligned. */
function generatedFrom() {
  const client = path.join(root, 'generated/prisma/internal/class.ts')
  if (!fs.existsSync(client)) return ''
  const found = /"inlineSchema": ("(?:[^"\\]|\\.)*")/.exec(fs.readFileSync(client, 'utf8'))
  return found ? JSON.parse(found[1]) : ''
}

const words = text => text.replace(/\s+/g, ' ').trim()

export function seconds(since) {
  return `${((Date.now() - since) / 1000).toFixed(1)} s`
}

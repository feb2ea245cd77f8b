// One digest over everything that a build is made from. Node's own modules only.
import crypto from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { root } from './environment.mjs'

const FOLDERS = ['agent', 'app', 'core', 'public', 'server']
const FILES = [
  'instrumentation.ts',
  'next.config.ts',
  'package-lock.json',
  'package.json',
  'postcss.config.mjs',
  'prisma/schema.prisma',
  'proxy.ts',
  'tsconfig.build.json',
  'tsconfig.json',
]
const LEFT_OUT = new Set(['agent/dist'])

function* walk(folder) {
  const entries = fs.readdirSync(path.join(root, folder), { withFileTypes: true })
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const place = `${folder}/${entry.name}`
    if (LEFT_OUT.has(place)) continue
    if (entry.isDirectory()) yield* walk(place)
    else if (entry.isFile()) yield place
  }
}

/**
 * The digest of the sources: names and contents, never times, so that a checkout to and fro costs no build.
 * @returns {string} hex
 */
export function fingerprint() {
  const hash = crypto.createHash('sha256').update(process.version)
  const add = place => {
    const bytes = fs.readFileSync(path.join(root, place))
    hash.update(`${place}\0${bytes.length}\0`).update(bytes)
  }
  for (const folder of FOLDERS) if (fs.existsSync(path.join(root, folder))) for (const place of walk(folder)) add(place)
  for (const file of FILES) if (fs.existsSync(path.join(root, file))) add(file)
  return hash.digest('hex')
}

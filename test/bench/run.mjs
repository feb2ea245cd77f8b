#!/usr/bin/env node
// `npm run bench` measures every row of the table that says what "fast" means; `npm run bench -- decide pause` some.
// Each figure is printed beside its peer or floor of the same run. Nothing fails because a machine is slow.
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'

const root = path.resolve(import.meta.dirname, '../..')
const rows = readdirSync(path.join(import.meta.dirname, 'rows')).map(file => file.replace(/\.ts$/, ''))
const words = process.argv.slice(2)
const json = words.includes('--json')
const wanted = words.filter(word => !word.startsWith('--'))
const strange = wanted.filter(name => !rows.includes(name))
if (strange.length > 0) {
  console.error(`There is no row ${strange.join(', ')}. Rows: ${rows.join(', ')}.`)
  process.exit(2)
}

/** A file that looks for what lies beside it finds it, although all of them become one. */
const ownPlaces = {
  name: 'own-places',
  setup({ onLoad }) {
    onLoad({ filter: /\.(ts|mjs)$/ }, ({ path: file }) => {
      if (file.includes('/node_modules/')) return
      const url = JSON.stringify(pathToFileURL(file).href)
      const contents = readFileSync(file, 'utf8').replaceAll('import.meta.url', url)
      return { contents, loader: file.endsWith('.ts') ? 'ts' : 'js' }
    })
  },
}

const out = path.join(root, '.data/bench')
mkdirSync(out, { recursive: true })
process.chdir(root)
try {
  for (const name of wanted.length > 0 ? wanted : rows) {
    const file = path.join(out, `${name}-${process.pid}.mjs`)
    await build({
      entryPoints: [path.join(import.meta.dirname, 'rows', `${name}.ts`)],
      outfile: file,
      bundle: true,
      platform: 'node',
      format: 'esm',
      target: 'node20',
      packages: 'external',
      conditions: ['react-server'],
      alias: { 'server-only': path.join(root, 'node_modules/server-only/empty.js') },
      plugins: [ownPlaces],
      logLevel: 'warning',
    })
    const { row } = await import(pathToFileURL(file).href)
    if (!json) console.log(`\n${name} (load ${os.loadavg()[0].toFixed(1)} on ${os.cpus().length} processors)`)
    for (const measured of await row.run()) print(measured)
    rmSync(file)
  }
} finally {
  rmSync(out, { recursive: true, force: true })
}
process.exit(0)

function print(measured) {
  if (json) return console.log(JSON.stringify(measured))
  const figure = value => `${value >= 100 ? Math.round(value) : Number(value.toPrecision(3))} ${measured.unit}`
  console.log(
    `  ${measured.ok ? 'ok  ' : 'MISS'} ${measured.case}: ${figure(measured.value)}, ${measured.against}: ${figure(measured.againstValue)}, ratio ${measured.ratio.toFixed(2)} (must: ${measured.must})`,
  )
}

// Bundles the connector: one file that a machine downloads, with the tiny program that a client starts per call inside it.
import crypto from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, transform } from 'esbuild'

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..')

/** What both bundles are made with. Readable on purpose: whoever installs it can look at what runs on their machine. */
const COMMON = {
  bundle: true,
  platform: 'node',
  format: 'cjs',
  target: 'node20',
  charset: 'utf8',
  // shorter, and still a line a statement under its own names
  minifySyntax: true,
  legalComments: 'inline',
  logLevel: 'warning',
  metafile: true,
  write: false,
}

/**
 * Writes `holdpoint.cjs`, `hook.cjs`, `statusline.cjs`, `meta.json` (esbuild's account of what is in them) and `manifest.json`
 * {version, sha256, bytes} of holdpoint.cjs. The same sources give the same bytes.
 * @param {{ root?: string, out?: string }} [places] the project's folder and the output folder
 * @returns {Promise<{ version: string, sha256: string, bytes: number }>}
 */
export async function buildConnector({ root = ROOT, out = path.join(root, 'agent/dist') } = {}) {
  const { version } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'))
  const define = { __HOLDPOINT_VERSION__: JSON.stringify(version) }
  const hook = await bundle(root, 'agent/hook/main.ts', 'hook.cjs', define)
  const statusLine = await bundle(root, 'agent/statusline/main.ts', 'statusline.cjs', define)
  const programs = {
    __HOOK_SOURCE__: JSON.stringify(hook.text),
    __STATUSLINE_SOURCE__: JSON.stringify(statusLine.text),
  }
  const withHook = { ...define, ...programs, ...(await opencodeTexts(root)) }
  const cli = await bundle(root, 'agent/cli.ts', 'holdpoint.cjs', withHook)
  const bytes = Buffer.from(cli.text)
  const manifest = { version, sha256: crypto.createHash('sha256').update(bytes).digest('hex'), bytes: bytes.length }
  const meta = { 'holdpoint.cjs': cli.meta, 'hook.cjs': hook.meta, 'statusline.cjs': statusLine.meta }
  fs.mkdirSync(out, { recursive: true })
  replace(path.join(out, 'hook.cjs'), hook.text, 0o755)
  replace(path.join(out, 'statusline.cjs'), statusLine.text, 0o755)
  replace(path.join(out, 'holdpoint.cjs'), cli.text, 0o755)
  replace(path.join(out, 'meta.json'), json(meta))
  replace(path.join(out, 'manifest.json'), json(manifest))
  return manifest
}

/**
 * The module that opencode loads, and the program that tries it, as the values of the names that the connector knows them by.
 * Written as a module without its first line: the install writes its own.
 * @param {string} [root] the project's folder
 */
export async function opencodeTexts(root = ROOT) {
  const folder = 'agent/clients/opencode/plugin'
  const plugin = await bundle(root, `${folder}/plugin.ts`, 'holdpoint.js', {}, { format: 'esm', banner: {} })
  const tried = await bundle(root, `${folder}/try.ts`, 'try.cjs', {}, { banner: {} })
  return { __OPENCODE_PLUGIN__: JSON.stringify(plugin.text), __OPENCODE_TRY__: JSON.stringify(tried.text) }
}

/** What is not ours has short names within: whoever wants to read it finds it under its own name and version elsewhere. */
const shortNames = {
  name: 'short-names',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]node_modules[\\/].*\.[cm]?js$/ }, async ({ path: file }) => {
      const { legalComments, platform, target } = COMMON
      const options = { legalComments, platform, target, minifyIdentifiers: true }
      return { contents: (await transform(fs.readFileSync(file, 'utf8'), options)).code, loader: 'js' }
    })
  },
}

async function bundle(root, entry, name, define, more = {}) {
  const result = await build({
    ...COMMON,
    absWorkingDir: root,
    // the same reader of YAML in the form of which only what is used is taken
    alias: { yaml: path.join(ROOT, 'node_modules/yaml/browser/dist/index.js') },
    entryPoints: [entry],
    outfile: name,
    banner: { js: '#!/usr/bin/env node' },
    define,
    plugins: [shortNames],
    ...more,
  })
  // Node's own functions are called by their modules' names, as one would write it
  const text = result.outputFiles[0].text.replace(/\(0, (import_node_\w+\.\w+)\)\(/g, '$1(')
  return { text, meta: result.metafile }
}

const json = value => `${JSON.stringify(value, null, 2)}\n`

/** Never half a file: the server may be handing it out. */
function replace(file, text, mode = 0o644) {
  fs.writeFileSync(`${file}.new`, text, { mode })
  fs.renameSync(`${file}.new`, file)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { version, sha256, bytes } = await buildConnector()
  console.log(`holdpoint ${version}: ${bytes} bytes, sha256 ${sha256}`)
}

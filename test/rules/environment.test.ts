import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { root } from '#server/boot/environment.mjs'
import { readSources, withoutComments } from './sources.ts'

/** Read, and nobody's to set by hand: who sets it. Everything else that is read stands in the README's table. */
const INTERNAL: Record<string, string> = {
  HOLDPOINT_CONNECTOR: 'the launcher: where the bundle lies that machines download',
  HOLDPOINT_LAUNCHER: 'the launcher: its process, with which the server ends',
  NEXTAUTH_URL: 'the server, for the sign-in library',
  NEXT_PHASE: 'Next',
  NEXT_RUNTIME: 'Next',
  NODE_ENV: 'the launcher, and Next while it builds',
  HOSTNAME: 'the launcher, for Next',
  PATH: 'every system',
  PRISMA_SCHEMA_ENGINE_BINARY: 'its own configuration: an engine that is not used',
  npm_execpath: 'npm',
  npm_lifecycle_event: 'npm',
  TERM: 'the terminal',
  NO_COLOR: 'whoever wants no colours anywhere (no-color.org)',
  HOLDPOINT_LINE: 'the line of the Machines page, for itself',
  CLAUDE_CODE_ENTRYPOINT: 'Claude Code',
  CLAUDE_CODE_SESSION_ATTENDED: 'Claude Code',
  CLAUDE_CONFIG_DIR: 'whoever moved the settings of Claude Code',
  CLAUDE_PID: 'Claude Code',
  CODEX_HOME: 'whoever moved the files of Codex',
  COPILOT_HOME: 'whoever moved the files of Copilot CLI',
  GEMINI_CLI_HOME: 'whoever moved the files of Gemini CLI',
  GEMINI_CLI_SYSTEM_SETTINGS_PATH: 'whoever moved the settings that a machine has for Gemini CLI',
  GEMINI_CLI_TRUSTED_FOLDERS_PATH: 'whoever moved the list of folders that Gemini CLI trusts',
  GEMINI_SANDBOX: 'Gemini CLI’s user',
  OPENCODE_CONFIG_DIR: 'whoever has more settings of opencode elsewhere',
  OPENCODE_DB: 'whoever moved the database of opencode',
  OPENCODE_PID: 'opencode',
  OPENCODE_PURE: 'whoever starts opencode without plugins',
  DBUS_SESSION_BUS_ADDRESS: 'the desktop',
  DISPLAY: 'the desktop',
  WAYLAND_DISPLAY: 'the desktop',
  HOLDPOINT_TITLE: 'the daemon, for the notifier of Windows',
  HOLDPOINT_BODY: 'the daemon, for the notifier of Windows',
  USERDOMAIN: 'Windows',
  XDG_CONFIG_HOME: 'whoever moved the settings of all programs',
  XDG_DATA_HOME: 'whoever moved the data of all programs',
}

const sources = new Map(
  [...readSources()]
    .filter(([file]) => /^(agent|app|core|prisma|server)\/|^[^/]+$/.test(file) && !file.startsWith('agent/dist/'))
    .filter(([file]) => !/^(vitest|playwright)\.config/.test(file))
    .map(([file, text]) => [file, withoutComments(text)]),
)
const readme = readFileSync(path.join(root, 'README.md'), 'utf8')
const documented = new Set(
  [...readme.matchAll(/^\| (`[^|]*`) +\|/gm)].flatMap(([, cell]) =>
    [...cell!.matchAll(/`([A-Z][A-Z0-9_]+)(?:=[^`]*)?`/g)].map(([, name]) => name!),
  ),
)

/** Every name that a text reads from an environment. Constants that hold a name are looked up in `constants`. */
function namesIn(text: string, constants: ReadonlyMap<string, string>): string[] {
  const direct = /(?:process\.env|\benv|\bvars)\??\.([A-Za-z_][A-Za-z0-9_]*)|\bneed\('([A-Z0-9_]+)'\)/g
  const found = [...text.matchAll(direct)]
    .filter(([whole, name]) => whole.startsWith('process.env') || name === undefined || /^[A-Z][A-Z0-9_]+$/.test(name))
    .map(([, name, needed]) => name ?? needed!)
  const taken = [...text.matchAll(/\{([^{}]*)\}\s*=\s*process\.env\b/g)].flatMap(([, list]) =>
    list!.split(',').map(each => each.split(/[:=]/)[0]!.trim()),
  )
  const looked = [...text.matchAll(/\benv\[(?:'([^']+)'|([A-Z][A-Z0-9_]*))\]/g)].map(
    ([, literal, constant]) => literal ?? constants.get(constant!) ?? constant!,
  )
  const own = [...text.matchAll(/['"`.\s](HOLDPOINT_[A-Z_]*[A-Z])\b/g)].map(([, name]) => name!)
  return [...found, ...taken, ...looked, ...own].filter(Boolean)
}

const constants = new Map(
  [...sources.values()].flatMap(text =>
    [...text.matchAll(/\bconst ([A-Z][A-Z0-9_]*) = '([A-Z][A-Z0-9_]*)'/g)].map(
      ([, name, value]) => [name!, value!] as const,
    ),
  ),
)
const read = new Map<string, string>()
for (const [file, text] of sources) for (const name of namesIn(text, constants)) read.set(name, file)

test('every variable that is read stands in the README, or is nobody’s to set', () => {
  const unknown = [...read].filter(([name]) => !documented.has(name) && !INTERNAL[name])
  expect(unknown.map(([name, file]) => `${name} in ${file}`)).toEqual([])
})

test('none is told of that nobody reads', () => {
  expect([...documented, ...Object.keys(INTERNAL)].filter(name => !read.has(name))).toEqual([])
})

test('a name is found however it is read', () => {
  const text = `const { A_ONE, B: b = 1 } = process.env; process.env.npm_thing; env.C_TWO; env().databaseUrl; vars.D_THREE
    need('E_FOUR'); env['F_FIVE']; process.env[NAME]; \`set HOLDPOINT_SIX\``
  expect(namesIn(text, new Map([['NAME', 'G_SEVEN']])).sort()).toEqual(
    ['A_ONE', 'B', 'npm_thing', 'C_TWO', 'D_THREE', 'E_FOUR', 'F_FIVE', 'G_SEVEN', 'HOLDPOINT_SIX'].sort(),
  )
})

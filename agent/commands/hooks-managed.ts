/** `hooks install --managed` and `hooks uninstall --managed`: hooks that a machine's administrator sets for every user. */
import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { ClientAdapter } from '#agent/clients/adapter.ts'
import { HookEditError, type WhenBroken } from '#agent/clients/hook-editor.ts'
import { type ManagedEditor, readManaged, whoMayChange } from '#agent/clients/managed.ts'
import { MANAGED, UNMANAGED } from '#agent/clients/managed-editors.ts'
import { ADAPTERS } from '#agent/clients/sources.ts'
import { checkPerson, confirmWord } from '#agent/guard/person.ts'
import { MANAGED_PROGRAM } from '#agent/hook/home-place.ts'
import { plain, type Terminal } from '#agent/terminal.ts'
import type { Call } from './command.ts'
import { CommandFailure, EXIT, type ExitCode } from './exit.ts'
import { adapterFor } from './hook-plan.ts'
import { showPlan } from './hook-words.ts'
import { HOOK_SOURCE } from './version.ts'

type Planned = {
  adapter: ClientAdapter
  editor: ManagedEditor
  before: string | undefined
  after: string | undefined
  changes: string[]
}

/** Clients whose managed hooks are meant, and why the others have none. */
function chosen(named: unknown): { adapters: ClientAdapter[]; none: string[] } {
  const adapters = typeof named === 'string' ? [adapterFor(named)] : [...ADAPTERS]
  const none = adapters.flatMap(({ client }) => (MANAGED.has(client) ? [] : (UNMANAGED[client] ?? [])))
  if (none.length === adapters.length) throw new CommandFailure('failed', 'not_managed', none[0]!)
  return { adapters: adapters.filter(({ client }) => MANAGED.has(client)), none }
}

function mustBeRoot(dryRun: boolean): void {
  if (process.platform === 'win32')
    throw new CommandFailure('failed', 'not_here', 'Managed hooks are written on Linux and macOS only.')
  if (!dryRun && process.getuid?.() !== 0)
    throw new CommandFailure(
      'failed',
      'not_root',
      'Managed hooks hold for every user of this machine, so only root can set them or take them out.',
      'Run it with `sudo`, or look first with `--dry-run`.',
    )
}

/** The Node that runs us; what others than root may change is no managed hook's program. */
function nodeOfRoot(): string {
  const exe = fs.realpathSync(process.execPath)
  const why = whoMayChange(exe)
  if (why === undefined) return exe
  throw new CommandFailure(
    'failed',
    'node_not_roots',
    `The hooks would be run by ${exe}, and ${why}: whoever can change that program undoes them.`,
    'Run this with a Node that the system has installed, for example `sudo /usr/bin/node holdpoint.cjs hooks install --managed`.',
  )
}

export function installManaged({ flags, json, terminal }: Call, whenBroken: WhenBroken): ExitCode {
  const dryRun = flags['dry-run'] === true
  mustBeRoot(dryRun)
  const { adapters, none } = chosen(flags.client)
  if (HOOK_SOURCE === undefined)
    throw new CommandFailure('failed', 'not_a_build', 'Only the built holdpoint.cjs carries the program for the hooks.')
  const exe = dryRun ? fs.realpathSync(process.execPath) : nodeOfRoot()
  const planned = adapters.map((adapter): Planned => {
    const editor = MANAGED.get(adapter.client)!
    const before = textOf(editor.file)
    const request = { exe, program: MANAGED_PROGRAM, whenBroken }
    try {
      const { text, changes } = editor.install(before, request, process.env)
      return { adapter, editor, before, after: text, changes }
    } catch (error) {
      if (!(error instanceof HookEditError)) throw error
      throw new CommandFailure('failed', 'not_merged', `${editor.file}: ${error.message}`)
    }
  })
  if (!json) showPlans(terminal, planned, dryRun)
  if (!dryRun) {
    write(MANAGED_PROGRAM, HOOK_SOURCE, 0o755)
    for (const { editor, after, before } of planned) if (after !== before) write(editor.file, after!, 0o644)
  }
  const troubles = dryRun ? [] : planned.flatMap(({ editor }) => readManaged(editor)?.troubles ?? [])
  if (json) terminal.json(told(planned, dryRun, { none, troubles }))
  else {
    for (const trouble of troubles) terminal.line(`  ${terminal.paint('red', 'off ')}  ${plain(trouble)}`)
    for (const why of none) terminal.line(why)
    terminal.line(
      'A user’s flags and settings do not take these hooks out. They ask the daemon that runs as that user, which the user can stop: ' +
        'the level is “managed hook, user daemon”. Calls that nobody judged are found afterwards and shown.',
    )
    terminal.line(
      'A user who has hooks as well is asked twice for each call: `holdpoint hooks uninstall` takes theirs out.',
    )
  }
  return troubles.length > 0 ? EXIT.failed : EXIT.ok
}

export function uninstallManaged({ flags, home, json, terminal }: Call): ExitCode {
  const dryRun = flags['dry-run'] === true
  mustBeRoot(dryRun)
  const planned = chosen(flags.client).adapters.map((adapter): Planned => {
    const editor = MANAGED.get(adapter.client)!
    const before = textOf(editor.file)
    if (before === undefined) return { adapter, editor, before, after: undefined, changes: [] }
    const { text, changes } = editor.remove(before)
    return { adapter, editor, before, after: text, changes }
  })
  const removed = dryRun ? [] : planned.filter(({ changes }) => changes.length > 0)
  if (removed.length > 0) checkPerson(home.root)
  if (!json) showPlans(terminal, planned, dryRun)
  if (removed.length > 0) {
    confirmWord('Without them every user decides alone whether a rule holds here.', 'uninstall')
    for (const { editor, after } of removed) {
      if (after === undefined) fs.rmSync(editor.file)
      else write(editor.file, after, 0o644)
    }
    // what no client's hooks name any more is nobody's
    if (![...MANAGED.values()].some(editor => textOf(editor.file)?.includes(MANAGED_PROGRAM)))
      fs.rmSync(MANAGED_PROGRAM, { force: true })
    if (!json) terminal.line('Removed. Sessions that run already keep the hooks until they end.')
  }
  if (json) terminal.json(told(planned, dryRun, {}))
  return EXIT.ok
}

/** What `hooks status` says of a client's managed hooks. */
export function showManaged(
  terminal: Terminal,
  { title }: ClientAdapter,
  file: string,
  { whole, isRoots, troubles }: NonNullable<ReturnType<typeof readManaged>>,
): void {
  const holds = whole && isRoots
  terminal.line(
    `${terminal.paint('bold', title)}  ${holds ? 'managed hook: set for every user' : 'the managed hook does NOT hold'} (${file})`,
  )
  for (const trouble of troubles) terminal.line(`  ${terminal.paint('red', 'off ')}  ${plain(trouble)}`)
}

const told = (planned: readonly Planned[], dryRun: boolean, more: object) => ({
  clients: planned.map(({ adapter, editor, changes }) => ({ client: adapter.client, file: editor.file, changes })),
  dryRun,
  ...more,
})

function showPlans(terminal: Terminal, planned: readonly Planned[], dryRun: boolean): void {
  for (const { adapter, editor, before, after, changes } of planned)
    showPlan(terminal, adapter, { file: editor.file, changes, before, after, dryRun }, dryRun)
}

/** @throws CommandFailure for what is no regular file */
function textOf(file: string): string | undefined {
  const stat = fs.lstatSync(file, { throwIfNoEntry: false })
  if (!stat) return undefined
  if (stat.isFile()) return fs.readFileSync(file, 'utf8')
  throw new CommandFailure('failed', 'not_a_file', `${file} is there and is no file.`)
}

/** In one step; folders that are missing become root's. @throws CommandFailure where others could change it there */
function write(file: string, text: string, mode: number): void {
  const folder = dirname(file)
  const made = fs.mkdirSync(folder, { recursive: true, mode: 0o755 })
  if (made !== undefined)
    for (let path = folder; path.length >= made.length; path = dirname(path)) fs.chmodSync(path, 0o755)
  const temp = join(folder, `.${basename(file)}.${randomBytes(6).toString('hex')}.tmp`)
  try {
    fs.writeFileSync(temp, text, { flag: 'wx', mode })
    fs.chmodSync(temp, mode)
    const why = whoMayChange(temp)
    if (why !== undefined)
      throw new CommandFailure('failed', 'not_roots', `${file} cannot be kept from its users there: ${why}.`)
    fs.renameSync(temp, file)
  } catch (error) {
    fs.rmSync(temp, { force: true })
    throw error
  }
}

import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import type {
  ClientAdapter,
  ClientHome,
  HookChange,
  HookForm,
  HookInspection,
  HookInstall,
} from '#agent/clients/adapter.ts'
import { ADAPTERS } from '#agent/clients/sources.ts'
import { type DaemonDoor, readHookDoor } from '#agent/daemon-client.ts'
import { checkPerson, confirmWord } from '#agent/guard/person.ts'
import { type Home, readKeptText, writeJson } from '#agent/home.ts'
import { clientPlaceFile, clientPlaceOf } from '#agent/hook/client-place.ts'
import { type ChosenForm, chooseForm, readAccounts } from '#agent/hook-form.ts'
import { hookInstall, hookPrograms } from '#agent/hook-programs.ts'
import { plain, type Terminal } from '#agent/terminal.ts'
import { TrustStore } from '#agent/trust/store.ts'
import { readTeam } from '#agent/trust/team.ts'
import { nearest } from '#core/boundary/problem.ts'
import { sendCanary } from './canary.ts'
import type { Call, Command, Option } from './command.ts'
import { startDaemon, statusOrNothing } from './daemon.ts'
import { lineDiff } from './diff.ts'
import { CommandFailure, EXIT } from './exit.ts'

type HookDoor = Pick<DaemonDoor, 'port' | 'hookToken'>

const CLIENT: Record<string, Option> = {
  client: { type: 'string', value: 'NAME', help: 'which agent program (default: claude-code)' },
}
const DRY_RUN: Record<string, Option> = {
  'dry-run': { type: 'boolean', help: 'show what would change and change nothing' },
}

export const hooksInstall: Command = {
  name: 'hooks install',
  summary: 'wire an agent program to the pause point',
  options: {
    ...CLIENT,
    ...DRY_RUN,
    form: {
      type: 'string',
      value: 'http|command',
      help: 'how calls reach the daemon (default: http where one user can log in on this machine, command where several can)',
    },
    'when-broken': {
      type: 'string',
      value: 'pass|block',
      help: 'what happens to a call while Holdpoint is broken (default: what the organisation’s rules say, else pass)',
    },
  },
  about:
    'Shows the difference in the program’s own settings file, keeps a backup, writes it in one step, and then sends one event through the installed hook as the program would, a proxy in the environment included. ' +
    'Other hooks and settings stay as they are, and installing twice changes nothing. It ends with what would switch the hook off. ' +
    'The http form adds next to nothing to a call, and its token stands in the program’s settings; the command form starts a small program for each call, ' +
    'which asks over a socket that no other user of the machine can open.',
  examples: [
    ['holdpoint hooks install --dry-run', 'look first'],
    ['holdpoint hooks install', 'Claude Code'],
    ['holdpoint hooks install --form command', 'over the socket, whoever can log in here'],
  ],
  async run(call) {
    const { flags, home, json, terminal } = call
    const adapter = adapterFor(flags.client)
    const dryRun = flags['dry-run'] === true
    const whenBroken = flags['when-broken'] ?? organisationWhenBroken(home)
    if (whenBroken !== undefined && whenBroken !== 'pass' && whenBroken !== 'block')
      throw new CommandFailure('usage', 'when_broken', '`--when-broken` is pass or block.')
    const chosen = wantedForm(flags.form)
    const door = await readyDoor(home, dryRun)
    const request = installRequest(home, adapter, door, { whenBroken, form: chosen.form })
    const client = clientHome()
    const planned = adapter.hooks.install(client, request, { dryRun: true })
    const told = { client: adapter.client, form: chosen.form, why: chosen.why }
    if (!json) {
      terminal.line(`The hook has the ${chosen.form} form, because ${plain(chosen.why)}.`)
      showPlan(terminal, adapter, planned, dryRun)
    }
    if (dryRun) {
      if (json) terminal.json({ ...told, ...summary(planned), dryRun: true })
      return EXIT.ok
    }
    writeJson(home, clientPlaceFile(home.root), clientPlaceOf(process.env))
    const change = adapter.hooks.install(client, request, { dryRun: false })
    const settings = readKeptText(change.file) ?? ''
    const canary = await sendCanary(settings, adapter.hookPath, process.env, home.root)
    const inspection = inspect(adapter, request)
    if (json)
      terminal.json({
        ...told,
        ...summary(change),
        dryRun: false,
        canary,
        level: inspection.level,
        findings: inspection.findings,
      })
    else {
      if (change.changes.length > 0)
        terminal.line(`Written.${change.backup ? ` The file as it was: ${change.backup}` : ''}`)
      if (canary.ok)
        terminal.line(
          `${terminal.paint('green', 'Proved:')} an event through the installed ${canary.form} hook reached the daemon (${canary.tookMs} ms).`,
        )
      else terminal.line(`${terminal.paint('red', 'NOT proved:')} ${plain(canary.why)}.`)
      showFindings(terminal, adapter, inspection)
    }
    return canary.ok && inspection.level === 'user-hook' ? EXIT.ok : EXIT.failed
  },
}

export const hooksUninstall: Command = {
  name: 'hooks uninstall',
  summary: 'take the hooks out again (a person at a terminal only)',
  options: { ...CLIENT, ...DRY_RUN },
  about:
    'Removes our entries from the program’s settings and leaves everything else. If the file is as the install left it, its former bytes come back. Afterwards no rule holds in that program.',
  examples: [['holdpoint hooks uninstall', 'asks for the word “uninstall”']],
  async run({ flags, home, json, terminal }) {
    const adapter = adapterFor(flags.client)
    const dryRun = flags['dry-run'] === true
    const planned = adapter.hooks.uninstall(clientHome(), { dryRun: true })
    const removes = !dryRun && planned.changes.length > 0
    // whoever is refused is shown nothing of the settings first
    if (removes) checkPerson(home.root)
    if (!json) showPlan(terminal, adapter, planned, dryRun)
    if (removes) {
      confirmWord(`Without the hooks no rule holds in ${adapter.title} here.`, 'uninstall')
      adapter.hooks.uninstall(clientHome(), { dryRun: false })
      if (!json) terminal.line('Removed. Sessions that run already keep the hooks until they end.')
    }
    if (json) terminal.json({ client: adapter.client, ...summary(planned), dryRun })
    return EXIT.ok
  },
}

export const hooksStatus: Command = {
  name: 'hooks status',
  summary: 'say whether the hooks are in force, and what switches them off',
  options: CLIENT,
  about:
    'Reads the settings that are in force for this folder and sends one event through the installed hook. Exit code 1 when calls would pass unseen, 4 when no hook is installed.',
  examples: [['holdpoint hooks status', 'here, with this folder’s own settings']],
  async run({ flags, home, json, terminal }) {
    const adapters = flags.client === undefined ? ADAPTERS : [adapterFor(flags.client)]
    const door = readHookDoor(home)
    const accounts = readAccounts()
    let exit: 0 | 1 | 4 = EXIT.ok
    const out: unknown[] = []
    for (const adapter of adapters) {
      const { form } = adapter.hooks.inspect(clientHome(), { projectDirs: [] })
      const inspection = inspect(
        adapter,
        door && installRequest(home, adapter, door, form ? { form } : chooseForm(accounts)),
      )
      const settings = readKeptText(adapter.hooks.settingsPath(clientHome())) ?? ''
      const canary =
        inspection.level === 'not-installed'
          ? undefined
          : await sendCanary(settings, adapter.hookPath, process.env, home.root)
      out.push({
        client: adapter.client,
        settings: adapter.hooks.settingsPath(clientHome()),
        ...inspection,
        ...(form ? { suits: chooseForm(accounts) } : {}),
        ...(canary ? { canary } : {}),
      })
      if (inspection.level === 'not-installed') exit = EXIT.missing
      else if (inspection.level === 'broken' || !canary?.ok) exit = EXIT.failed
      if (json) continue
      const words = {
        'user-hook': 'user hook: a developer can remove it',
        broken: 'broken: calls pass unseen',
        'not-installed': 'not installed: run `holdpoint hooks install`',
      }
      terminal.line(`${terminal.paint('bold', adapter.title)}  ${words[inspection.level]}`)
      if (form) terminal.line(`  ${formWords(form, chooseForm(accounts))}`)
      if (inspection.outdated)
        terminal.line('  It was installed with another address, token or program: run `holdpoint hooks install` again.')
      if (canary)
        terminal.line(
          canary.ok
            ? `  An event through it reached the daemon (${canary.tookMs} ms).`
            : `  An event through it did NOT reach the daemon: ${plain(canary.why)}.`,
        )
      showFindings(terminal, adapter, inspection)
    }
    if (json) terminal.json(out)
    return exit
  },
}

function adapterFor(name: Call['flags'][string]): ClientAdapter {
  const wanted = typeof name === 'string' ? name : 'claude-code'
  const adapter = ADAPTERS.find(one => one.client === wanted)
  if (adapter) return adapter
  const known = ADAPTERS.map(one => one.client)
  const guess = nearest(wanted, known)
  throw new CommandFailure(
    'usage',
    'unknown_client',
    `This version cannot wire \`${plain(wanted, 60)}\`.`,
    guess ? `Did you mean \`--client ${guess}\`?` : `It can wire: ${known.join(', ')}.`,
  )
}

/** The daemon's address and token go into the settings, so it must have run once; a dry run starts nothing. */
async function readyDoor(home: Home, dryRun: boolean): Promise<HookDoor> {
  if (!dryRun && !(await statusOrNothing(home))) await startDaemon(home)
  const door = readHookDoor(home)
  if (door) return door
  throw new CommandFailure(
    'missing',
    'daemon_never_ran',
    'The daemon has never run here, so there is no address to install.',
    'Start it with `holdpoint daemon start`, or install without --dry-run, which starts it.',
  )
}

/** What was asked for, else what suits this machine. */
function wantedForm(asked: Call['flags'][string]): ChosenForm {
  const suits = chooseForm(readAccounts())
  if (asked === undefined) return suits
  if (asked !== 'http' && asked !== 'command') throw new CommandFailure('usage', 'form', '`--form` is http or command.')
  if (asked === 'command' && process.getuid === undefined)
    throw new CommandFailure('usage', 'form', `The command form does not work here: ${suits.why}.`)
  return { form: asked, why: 'you asked for it' }
}

/** The installed form, and whether it is the one that suits this machine. */
function formWords(form: HookForm, suits: ChosenForm): string {
  if (form === suits.form) return `It is the ${form} form, because ${plain(suits.why)}.`
  return form === 'http'
    ? `It is the http form, although ${plain(suits.why)}: file modes alone keep its token from them. \`holdpoint hooks install\` changes it to the command form.`
    : `It is the command form, although ${plain(suits.why)}; the http form would cost less time a call.`
}

function installRequest(
  home: Home,
  adapter: ClientAdapter,
  door: HookDoor,
  { form, whenBroken }: { form: HookForm; whenBroken?: 'pass' | 'block' | undefined },
): HookInstall {
  const hook = hookPrograms(home).at(-1)!
  if (!existsSync(hook))
    throw new CommandFailure(
      'missing',
      'not_installed',
      `The program for the hooks is not there: ${hook}.`,
      'Install it: `node holdpoint.cjs install`.',
    )
  return hookInstall(home, adapter, door, { form, whenBroken: whenBroken ?? currentWhenBroken(adapter) })
}

/** What the joined organisation's signed rules want to happen while Holdpoint is broken. */
function organisationWhenBroken(home: Home): 'pass' | 'block' | undefined {
  const team = readTeam(home)
  return team && new TrustStore(home, team, Date.now, () => {}).rules()?.set.whenBroken
}

const currentWhenBroken = (adapter: ClientAdapter) =>
  adapter.hooks.inspect(clientHome(), { projectDirs: [] }).whenBroken ?? 'pass'

function clientHome(): ClientHome {
  return { homeDir: homedir(), env: process.env }
}

function inspect(adapter: ClientAdapter, expected: HookInstall | undefined): HookInspection {
  const version = clientVersion(adapter.client)
  return adapter.hooks.inspect(clientHome(), {
    projectDirs: [process.cwd()],
    ...(expected ? { expected } : {}),
    ...(version ? { version } : {}),
  })
}

/** `claude --version` prints `2.1.332 (Claude Code)`; undefined when the program is not on the path. */
function clientVersion(client: string): string | undefined {
  const program = client === 'claude-code' ? 'claude' : client
  const { stdout } = spawnSync(program, ['--version'], {
    encoding: 'utf8',
    timeout: 5000,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  return /\d+\.\d+\.\d+/.exec(stdout ?? '')?.[0]
}

const summary = (change: HookChange) => ({
  file: change.file,
  changes: change.changes,
  ...(change.backup ? { backup: change.backup } : {}),
})

function showPlan(terminal: Terminal, adapter: ClientAdapter, change: HookChange, dryRun: boolean): void {
  if (change.changes.length === 0) {
    terminal.line(`${change.file} is as it should be; nothing to change.`)
    return
  }
  terminal.line(`${adapter.title}: ${change.file}${dryRun ? ' (dry run: nothing is written)' : ''}`)
  for (const what of change.changes) terminal.line(`  ${what}`)
  terminal.line()
  for (const line of lineDiff(change.before ?? '', change.after ?? '')) {
    const colour = line[0] === '+' ? 'green' : line[0] === '-' ? 'red' : 'dim'
    terminal.line(`  ${terminal.paint(colour, plain(hideToken(line.replaceAll('\t', '  '))))}`)
  }
  terminal.line()
}

/** The token may submit events; it need not stand in a terminal's history all the same. */
const hideToken = (line: string) => line.replace(/(Bearer )[A-Za-z0-9_-]{8,}/, '$1…')

function showFindings(terminal: Terminal, adapter: ClientAdapter, { findings, level, form }: HookInspection): void {
  for (const { severity, text } of findings)
    terminal.line(
      `  ${severity === 'off' ? terminal.paint('red', 'off ') : terminal.paint('yellow', 'risk')}  ${plain(text)}`,
    )
  if (level === 'not-installed') return
  terminal.line(
    `This is a user hook. It stops holding when someone edits that settings file, starts ${adapter.title} with hooks switched off (disableAllHooks, --bare),`,
  )
  const variable =
    form === 'command'
      ? 'loads code into the hook’s program by a variable (NODE_OPTIONS) in a project’s settings'
      : 'points a proxy variable past NO_PROXY in a project’s settings'
  terminal.line(`${variable}, or stops the daemon. Calls that nobody judged are found afterwards and shown.`)
}

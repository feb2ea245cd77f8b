import { spawnSync } from 'node:child_process'
import type { ClientAdapter } from '#agent/clients/adapter.ts'
import { findProgram, versionCall, versionIn } from '#agent/clients/found.ts'
import { HookEditError, type HookInspection, type HookInstall } from '#agent/clients/hook-editor.ts'
import { readManaged } from '#agent/clients/managed.ts'
import { MANAGED } from '#agent/clients/managed-editors.ts'
import { readHookDoor } from '#agent/daemon-client.ts'
import { checkPerson, confirmWord, GuardRefused } from '#agent/guard/person.ts'
import { writeJson } from '#agent/home.ts'
import { clientPlaceFile, clientPlaceOf } from '#agent/hook/client-place.ts'
import { plain, type Terminal } from '#agent/terminal.ts'
import { type CanaryResult, sendCanary } from './canary.ts'
import type { Call, Command, Option } from './command.ts'
import { CommandFailure, EXIT, type ExitCode } from './exit.ts'
import {
  chosenClients,
  clientHome,
  type HookDoor,
  installed,
  installRequest,
  organisationWhenBroken,
  readyDoor,
  suitingForm,
  wantedBroken,
  wantedForm,
  wiredClients,
} from './hook-plan.ts'
import { brokenWords, formWords, showFindings, showPlan, summary } from './hook-words.ts'
import { installManaged, showManaged, uninstallManaged } from './hooks-managed.ts'

const client = (otherwise: string): Record<string, Option> => ({
  client: { type: 'string', value: 'NAME', help: `which agent program (default: ${otherwise})` },
})
const DRY_RUN: Record<string, Option> = {
  'dry-run': { type: 'boolean', help: 'show what would change and change nothing' },
}

export const hooksInstall: Command = {
  name: 'hooks install',
  summary: 'wire the agent programs of this machine to the pause point',
  options: {
    ...client('each that is on your PATH'),
    ...DRY_RUN,
    form: {
      type: 'string',
      value: 'http|command',
      help: 'how calls reach the daemon (default: http where the program takes it and one user can log in here, else command)',
    },
    'when-broken': {
      type: 'string',
      value: 'pass|block',
      help: 'what happens to a call while Holdpoint is broken (default: what the organisation’s rules say, else pass)',
    },
    managed: {
      type: 'boolean',
      help: 'for every user of this machine, where a user’s own flags and settings do not take them out (as root)',
    },
    trust: {
      type: 'boolean',
      help: 'where the program runs only hooks that it was told to trust: tell it, without asking',
    },
  },
  about:
    'Shows the difference in each program’s own settings file, keeps a backup, writes it in one step, and then sends one event through the installed hook as the program would, a proxy in the environment included. ' +
    'Other hooks and settings stay as they are, and installing twice changes nothing. It ends with what would switch the hook off, and with what the program cannot do. ' +
    'The http form adds next to nothing to a call, and its token stands in the program’s settings; the command form starts a small program for each call, ' +
    'which asks over a socket that no other user of the machine can open. Codex runs only hooks that it was told to trust: it is told when you agree.',
  examples: [
    ['holdpoint hooks install --dry-run', 'look first'],
    ['holdpoint hooks install', 'every agent program that is found'],
    ['holdpoint hooks install --client codex --when-broken block', 'one of them, refusing while Holdpoint is broken'],
    ['sudo holdpoint hooks install --managed --dry-run', 'what would hold for every user of this machine'],
  ],
  async run(call) {
    const { flags, home, json, terminal } = call
    const { form, 'when-broken': broken } = flags
    if (form !== undefined && form !== 'http' && form !== 'command')
      throw new CommandFailure('usage', 'form', '`--form` is http or command.')
    if (broken !== undefined && broken !== 'pass' && broken !== 'block')
      throw new CommandFailure('usage', 'when_broken', '`--when-broken` is pass or block.')
    if (flags.managed === true) {
      if (form === 'http')
        throw new CommandFailure(
          'usage',
          'form',
          'Managed hooks have the command form only: its token would be every user’s.',
        )
      return installManaged(call, broken ?? organisationWhenBroken(home) ?? 'pass')
    }
    const chosen = chosenClients(flags)
    const asked: Asked = {
      form,
      whenBroken: broken ?? organisationWhenBroken(home),
      isNamed: chosen.isNamed,
      door: await readyDoor(home, flags['dry-run'] === true),
    }
    if (!json && chosen.why) terminal.line(chosen.why)
    if (flags['dry-run'] !== true) writeJson(home, clientPlaceFile(home.root), clientPlaceOf(process.env))
    return forEach(call, chosen.adapters, adapter => installOne(call, adapter, asked))
  },
}

type Asked = {
  form: string | undefined
  whenBroken: HookInstall['whenBroken'] | undefined
  isNamed: boolean
  door: HookDoor
}
type Done = { exit: ExitCode; told: object }

/** One client after the other; what stops one does not stop the next. Ends with the worst. */
async function forEach(
  { json, terminal }: Call,
  adapters: readonly ClientAdapter[],
  act: (adapter: ClientAdapter) => Promise<Done>,
): Promise<ExitCode> {
  const done: Done[] = []
  for (const adapter of adapters) {
    if (!json && done.length > 0) terminal.line()
    try {
      done.push(await act(adapter))
    } catch (error) {
      const isKnown = error instanceof HookEditError || error instanceof CommandFailure
      if (adapters.length === 1 || !isKnown || error instanceof GuardRefused) throw error
      const { code, message } = error
      if (!json) terminal.note(`holdpoint: ${adapter.title}: ${plain(message)}`)
      done.push({ exit: EXIT.failed, told: { client: adapter.client, error: { code, message } } })
    }
  }
  if (json) terminal.json(done.map(({ told }) => told))
  const worst = [EXIT.failed, EXIT.missing, EXIT.ok].find(exit => done.some(one => one.exit === exit))
  return worst ?? EXIT.ok
}

async function installOne({ flags, home, json, terminal }: Call, adapter: ClientAdapter, asked: Asked): Promise<Done> {
  const dryRun = flags['dry-run'] === true
  const editor = MANAGED.get(adapter.client)
  const managed = editor && readManaged(editor)
  if (managed?.whole && managed.isRoots) {
    // two hooks would ask twice for each call
    if (!json) showManaged(terminal, adapter, editor!.file, managed)
    return { exit: EXIT.ok, told: { client: adapter.client, managed: { file: editor!.file, ...managed }, changes: [] } }
  }
  const form = wantedForm(adapter, asked.form, asked.isNamed)
  const broken = wantedBroken(adapter, form.form, asked.whenBroken, asked.isNamed)
  const request = installRequest(home, adapter, asked.door, { form: form.form, whenBroken: broken.whenBroken })
  const planned = adapter.hooks.install(clientHome(), request, { dryRun: true })
  const told = {
    client: adapter.client,
    form: form.form,
    why: form.why,
    whenBroken: broken.whenBroken,
    ...(broken.note ? { note: broken.note } : {}),
  }
  if (!json) {
    terminal.line(
      `${terminal.paint('bold', adapter.title)}: the hook has the ${form.form} form, because ${plain(form.why)}.`,
    )
    if (broken.note) terminal.line(broken.note)
    showPlan(terminal, adapter, planned, dryRun)
  }
  if (dryRun) return { exit: EXIT.ok, told: { ...told, ...summary(planned), dryRun } }
  const change = adapter.hooks.install(clientHome(), request, { dryRun: false })
  if (!json && change.changes.length > 0)
    terminal.line(`Written.${change.backup ? ` The file as it was: ${change.backup}` : ''}`)
  const trust = await settleTrust(adapter, { json, terminal, isAgreed: flags.trust === true })
  const canary = await sendCanary(adapter.hooks.probe(clientHome()), process.env, home.root)
  const inspection = inspect(adapter, request)
  if (!json) {
    showCanary(terminal, canary)
    showFindings(terminal, adapter, inspection)
  }
  const { level, findings } = inspection
  return {
    exit: canary.ok && level === 'user-hook' ? EXIT.ok : EXIT.failed,
    told: { ...told, ...summary(change), dryRun, ...(trust ? { trust } : {}), canary, level, findings },
  }
}

/** Where the client runs only hooks that it was told to trust, it is told, once its user agrees. */
async function settleTrust(
  { hooks: { trust }, program, title }: ClientAdapter,
  { json, terminal, isAgreed }: { json: boolean; terminal: Terminal; isAgreed: boolean },
): Promise<string | undefined> {
  const home = clientHome()
  if (!trust || trust.isTrusted(home) === true) return undefined
  const exe = findProgram(program, home)
  const say = (text: string) => {
    if (!json) terminal.line(text)
  }
  if (!exe) {
    say(`${title} is not on your PATH, so it could not be told to trust the hooks. ${trust.byHand}`)
    return 'not_told'
  }
  if (!isAgreed && !(await asksForTrust(trust.question, json))) {
    say(`${title} was not told to trust the hooks, and does not run them until it is. ${trust.byHand}`)
    return 'not_told'
  }
  const granted = await trust.grant(home, { exe, cwd: home.homeDir })
  say(
    granted.ok
      ? `${title} was told to trust these hooks.`
      : `${title} could not be told: ${granted.why}. ${trust.byHand}`,
  )
  return granted.ok ? 'told' : 'failed'
}

/** Asks at the terminal; where there is none, nobody has agreed. */
async function asksForTrust(question: string, json: boolean): Promise<boolean> {
  if (json || !process.stdin.isTTY || !process.stdout.isTTY) return false
  try {
    confirmWord(question, 'yes')
    return true
  } catch (error) {
    if (error instanceof GuardRefused) return false
    throw error
  }
}

export const hooksUninstall: Command = {
  name: 'hooks uninstall',
  summary: 'take the hooks out again (a person at a terminal only)',
  options: {
    ...client('each that has hooks'),
    ...DRY_RUN,
    managed: { type: 'boolean', help: 'those of every user of this machine (as root)' },
  },
  about:
    'Removes our entries from each program’s settings and leaves everything else. If the file is as the install left it, its former bytes come back. Afterwards no rule holds in that program.',
  examples: [
    ['holdpoint hooks uninstall', 'asks for the word “uninstall”'],
    ['holdpoint hooks uninstall --client codex', 'of one program'],
  ],
  async run(call) {
    const { flags, home, json, terminal } = call
    if (flags.managed === true) return uninstallManaged(call)
    const dryRun = flags['dry-run'] === true
    const { adapters } = wiredClients(flags)
    const planned = adapters.map(adapter => ({
      adapter,
      change: adapter.hooks.uninstall(clientHome(), { dryRun: true }),
    }))
    const removed = dryRun ? [] : planned.filter(({ change }) => change.changes.length > 0)
    // whoever is refused is shown nothing of the settings first
    if (removed.length > 0) checkPerson(home.root)
    if (!json) for (const { adapter, change } of planned) showPlan(terminal, adapter, change, dryRun)
    if (removed.length > 0) {
      const titles = removed.map(({ adapter }) => adapter.title).join(', ')
      confirmWord(`Without the hooks no rule holds in ${titles} here.`, 'uninstall')
      for (const { adapter } of removed) adapter.hooks.uninstall(clientHome(), { dryRun: false })
      if (!json) terminal.line('Removed. Sessions that run already keep the hooks until they end.')
    }
    if (json)
      terminal.json(planned.map(({ adapter, change }) => ({ client: adapter.client, ...summary(change), dryRun })))
    return EXIT.ok
  },
}

export const hooksStatus: Command = {
  name: 'hooks status',
  summary: 'say whether the hooks are in force, and what switches them off',
  options: client('each that is on your PATH or has hooks'),
  about:
    'Reads the settings that are in force for this folder and sends one event through each installed hook. Exit code 1 when calls would pass unseen in a program that has hooks, 4 when one of them has none.',
  examples: [['holdpoint hooks status', 'here, with this folder’s own settings']],
  async run(call) {
    const { flags, home, json, terminal } = call
    const chosen = chosenClients(flags)
    const door = readHookDoor(home)
    if (!json && chosen.why) terminal.line(chosen.why)
    return forEach(call, chosen.adapters, async adapter => {
      const there = installed(adapter)
      const form = there?.form
      const wanted = { form: form ?? suitingForm(adapter).form, whenBroken: there?.whenBroken ?? 'pass' }
      const inspection = inspect(adapter, door && installRequest(home, adapter, door, wanted))
      const suits = form ? suitingForm(adapter) : undefined
      const isThere = inspection.level !== 'not-installed'
      const canary = isThere ? await sendCanary(adapter.hooks.probe(clientHome()), process.env, home.root) : undefined
      const editor = MANAGED.get(adapter.client)
      const managed = editor && readManaged(editor)
      const told = {
        client: adapter.client,
        ...(managed ? { managed: { file: editor.file, ...managed } } : {}),
        settings: adapter.hooks.settingsPath(clientHome()),
        ...inspection,
        ...(suits ? { suits } : {}),
        ...(canary ? { canary } : {}),
        limits: adapter.limits,
      }
      const isManaged = managed?.whole === true && managed.isRoots
      const exit =
        isManaged && !isThere
          ? EXIT.ok
          : !isThere
            ? EXIT.missing
            : inspection.level === 'broken' || !canary?.ok
              ? EXIT.failed
              : EXIT.ok
      if (json) return { exit, told }
      if (managed) showManaged(terminal, adapter, editor.file, managed)
      if (isManaged && !isThere) return { exit, told }
      terminal.line(`${terminal.paint('bold', adapter.title)}  ${levelWords(adapter, inspection)}`)
      if (form && suits) {
        terminal.line(`  ${formWords(form, suits)}`)
        terminal.line(`  ${brokenWords(adapter, form, inspection.whenBroken)}`)
      }
      if (inspection.outdated)
        terminal.line('  It was installed with another address, token or program: run `holdpoint hooks install` again.')
      if (canary)
        terminal.line(
          canary.ok
            ? `  An event through it reached the daemon (${canary.tookMs} ms).`
            : `  An event through it did NOT reach the daemon: ${plain(canary.why)}.`,
        )
      showFindings(terminal, adapter, inspection)
      return { exit, told }
    })
  },
}

const levelWords = ({ client }: ClientAdapter, { level }: HookInspection) =>
  ({
    'user-hook': 'user hook: a developer can remove it',
    broken: 'broken: calls pass unseen',
    'not-installed': `not installed: run \`holdpoint hooks install --client ${client}\``,
  })[level]

function inspect(adapter: ClientAdapter, expected: HookInstall | undefined): HookInspection {
  const version = clientVersion(adapter.program)
  return adapter.hooks.inspect(clientHome(), {
    projectDirs: [process.cwd()],
    ...(expected ? { expected } : {}),
    ...(version ? { version } : {}),
  })
}

/** Undefined when the program is not on the path. */
function clientVersion(program: string): string | undefined {
  const exe = findProgram(program, clientHome())
  if (!exe) return undefined
  const { args, shell } = versionCall(exe)
  const { stdout } = spawnSync(exe, args, {
    encoding: 'utf8',
    timeout: 5000,
    stdio: ['ignore', 'pipe', 'ignore'],
    shell,
  })
  return versionIn(stdout ?? '')
}

function showCanary(terminal: Terminal, canary: CanaryResult): void {
  if (canary.ok)
    terminal.line(
      `${terminal.paint('green', 'Proved:')} an event through the installed ${canary.form} hook reached the daemon (${canary.tookMs} ms).`,
    )
  else terminal.line(`${terminal.paint('red', 'NOT proved:')} ${plain(canary.why)}.`)
}

/** Which clients a hooks command is about, and what it would write for each. */
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import type { ClientAdapter, FailsClosed } from '#agent/clients/adapter.ts'
import type { ClientHome } from '#agent/clients/client-home.ts'
import { findProgram } from '#agent/clients/found.ts'
import type { HookForm, HookInspection, HookInstall, WhenBroken } from '#agent/clients/hook-editor.ts'
import { ADAPTERS } from '#agent/clients/sources.ts'
import { type DaemonDoor, readHookDoor } from '#agent/daemon-client.ts'
import type { Home } from '#agent/home.ts'
import { type ChosenForm, chooseForm, readAccounts } from '#agent/hook-form.ts'
import { hookInstall, hookPrograms } from '#agent/hook-programs.ts'
import { plain } from '#agent/terminal.ts'
import { TrustStore } from '#agent/trust/store.ts'
import { readTeam } from '#agent/trust/team.ts'
import { nearest } from '#core/boundary/problem.ts'
import type { Flags } from './command.ts'
import { startDaemon, statusOrNothing } from './daemon.ts'
import { CommandFailure } from './exit.ts'

export type HookDoor = Pick<DaemonDoor, 'port' | 'hookToken'>

export const clientHome = (): ClientHome => ({ homeDir: homedir(), env: process.env })

/** @throws CommandFailure for a name that is none of ours, with the nearest that is */
export function adapterFor(wanted: string): ClientAdapter {
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

/** The hooks that are installed; undefined where the client's own file cannot be read. */
export function installed(adapter: ClientAdapter): HookInspection | undefined {
  try {
    return adapter.hooks.inspect(clientHome(), { projectDirs: [] })
  } catch {
    return undefined
  }
}

/** Hooks of ours, or a file in which there may be some. */
const hasHooks = (adapter: ClientAdapter) => installed(adapter)?.level !== 'not-installed'

export type Chosen = { adapters: readonly ClientAdapter[]; isNamed: boolean; why?: string }

/** The named client; without a name each whose program is on the path or that has hooks, and Claude Code where none is. */
export function chosenClients(flags: Flags): Chosen {
  if (typeof flags.client === 'string') return { adapters: [adapterFor(flags.client)], isNamed: true }
  const found = ADAPTERS.filter(one => findProgram(one.program, clientHome()) !== undefined || hasHooks(one))
  if (found.length > 0) return { adapters: found, isNamed: false }
  const programs = ADAPTERS.map(one => one.program).join(', ')
  return {
    adapters: ADAPTERS.slice(0, 1),
    isNamed: false,
    why: `None of the agent programs is on your PATH (${programs}), so this is about ${ADAPTERS[0]!.title}.`,
  }
}

/** Those that have hooks; the named one whether it has or not. */
export function wiredClients(flags: Flags): Chosen {
  if (typeof flags.client === 'string') return { adapters: [adapterFor(flags.client)], isNamed: true }
  const wired = ADAPTERS.filter(hasHooks)
  return { adapters: wired.length > 0 ? wired : ADAPTERS.slice(0, 1), isNamed: false }
}

/** The daemon's address and token go into the settings, so it must have run once; a dry run starts nothing. */
export async function readyDoor(home: Home, dryRun: boolean): Promise<HookDoor> {
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

/** The form that suits this machine, of those that a client takes. */
export function suitingForm({ forms, title }: ClientAdapter): ChosenForm {
  const suits = chooseForm(readAccounts())
  if (forms.includes(suits.form)) return suits
  const form = forms[0]!
  if (form === 'command' && process.getuid === undefined)
    throw new CommandFailure('failed', 'form', `${title} takes the command form only, and ${suits.why}.`)
  return { form, why: forms.length === 1 ? `it is the only one that ${title} takes` : `${title} takes no other here` }
}

/** What was asked for where the client takes it. @throws CommandFailure where it was asked for this very client and cannot be */
export function wantedForm(adapter: ClientAdapter, asked: string | undefined, isNamed: boolean): ChosenForm {
  const form = asked as HookForm | undefined
  if (form === undefined) return suitingForm(adapter)
  if (!adapter.forms.includes(form)) {
    if (!isNamed) return suitingForm(adapter)
    throw new CommandFailure('usage', 'form', `${adapter.title} takes ${adapter.forms.join(' or ')}, not ${form}.`)
  }
  if (form === 'command' && process.getuid === undefined)
    throw new CommandFailure('usage', 'form', `The command form does not work here: ${chooseForm(readAccounts()).why}.`)
  return { form, why: 'you asked for it' }
}

export const failsClosed = (adapter: ClientAdapter, form: HookForm): FailsClosed => adapter.failsClosed[form] ?? 'none'

export type ChosenBroken = { whenBroken: WhenBroken; note?: string }

/** What happens to calls while Holdpoint is broken, as far as the client allows. @throws CommandFailure */
export function wantedBroken(
  adapter: ClientAdapter,
  form: HookForm,
  asked: WhenBroken | undefined,
  isNamed: boolean,
): ChosenBroken {
  const wanted = asked ?? installed(adapter)?.whenBroken ?? 'pass'
  if (wanted === 'pass') return { whenBroken: 'pass' }
  const { title } = adapter
  switch (failsClosed(adapter, form)) {
    case 'client':
      return { whenBroken: 'block' }
    case 'program':
      return {
        whenBroken: 'block',
        note: `${title} itself lets a call run when a hook is missing, killed or too slow: \`block\` holds as long as our program runs there.`,
      }
    case 'none': {
      const why = `${title} lets calls run whatever its ${form} hook does when it is broken`
      if (isNamed && asked !== undefined)
        throw new CommandFailure('usage', 'when_broken', `\`--when-broken block\` cannot be had: ${why}.`)
      return { whenBroken: 'pass', note: `\`block\` cannot be had: ${why}.` }
    }
  }
}

export function installRequest(
  home: Home,
  adapter: ClientAdapter,
  door: HookDoor,
  chosen: Pick<HookInstall, 'form' | 'whenBroken'>,
): HookInstall {
  const hook = hookPrograms(home).at(-1)!
  if (existsSync(hook)) return hookInstall(home, adapter, door, chosen)
  throw new CommandFailure(
    'missing',
    'not_installed',
    `The program for the hooks is not there: ${hook}.`,
    'Install it: `node holdpoint.cjs install`.',
  )
}

/** What the joined organisation's signed rules want to happen while Holdpoint is broken. */
export function organisationWhenBroken(home: Home): WhenBroken | undefined {
  const team = readTeam(home)
  return team && new TrustStore(home, team, Date.now, () => {}).rules()?.set.whenBroken
}

import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { homedir, userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { DaemonStatus } from '#agent/daemon-client.ts'
import { type Service, serviceFor } from '#agent/desk/login-start.ts'
import { checkPerson, confirmWord } from '#agent/guard/person.ts'
import { type Home, openHome, remove, writeAtomic } from '#agent/home.ts'
import { plain } from '#agent/terminal.ts'
import type { Command } from './command.ts'
import { LOST_WHILE_DOWN, startDaemon, statusOrNothing, stopDaemon } from './daemon.ts'
import { CommandFailure, EXIT } from './exit.ts'

const SERVICE_MS = 8000

const DRY_RUN = { 'dry-run': { type: 'boolean' as const, help: 'show the file and the commands, and change nothing' } }

/** This system's own way to start a program at login. @throws CommandFailure where there is none that we know */
function serviceHere(home: Home): Service {
  const { username, uid } = userInfo()
  const domain = process.env.USERDOMAIN
  try {
    const service = serviceFor(process.platform, {
      homeDir: homedir(),
      root: home.root,
      isDefaultRoot: home.root === join(homedir(), '.holdpoint'),
      node: process.execPath,
      program: join(home.bin, 'holdpoint.cjs'),
      log: home.log,
      configHome: process.env.XDG_CONFIG_HOME,
      uid,
      user: domain ? `${domain}\\${username}` : username,
    })
    if (service) return service
  } catch (error) {
    throw new CommandFailure('failed', 'no_service', (error as Error).message)
  }
  throw new CommandFailure('failed', 'no_service', 'For this system no way is known to start the daemon at login.')
}

/** Why a command did not work; undefined when it did. */
function trouble([exe, ...args]: readonly string[]): string | undefined {
  try {
    execFileSync(exe!, args, { stdio: ['ignore', 'ignore', 'pipe'], timeout: 30_000, windowsHide: true })
    return undefined
  } catch (error) {
    const { code, stderr } = error as NodeJS.ErrnoException & { stderr?: Buffer }
    if (code === 'ENOENT') return `${exe} is not on this machine`
    return plain(stderr?.toString().trim() || code || 'it failed', 300)
  }
}

/** Whether the daemon is installed as a service here. */
const isInstalled = (service: Service): boolean => {
  try {
    return readFileSync(service.file).length > 0
  } catch {
    return false
  }
}

/** The service that is installed here, if any. */
function installedService(home: Home): Service | undefined {
  try {
    const service = serviceHere(home)
    return isInstalled(service) ? service : undefined
  } catch {
    return undefined
  }
}

const shell = (words: readonly string[]) =>
  words.map(word => (/^[\w./:@=-]+$/.test(word) ? word : `'${word}'`)).join(' ')

export const daemonInstall: Command = {
  name: 'daemon install',
  summary: 'let the system start the daemon at login, and again when it fails',
  options: DRY_RUN,
  about:
    'Writes a systemd user unit (Linux), a launchd agent (macOS) or a task of the Task Scheduler (Windows) that starts the daemon when you log in and again when it fails, and switches it on. Hooks start the daemon as well; this keeps it up between sessions. Installing twice changes nothing. A daemon that runs already goes on; `holdpoint daemon restart` then puts it under the service.',
  examples: [
    ['holdpoint daemon install --dry-run', 'look first'],
    ['holdpoint daemon install', 'from the next login on, and now if none runs'],
  ],
  async run({ flags, home, json, terminal }) {
    const service = serviceHere(home)
    const running = await statusOrNothing(home)
    const commands = [...service.enable, ...(running ? [] : service.start)]
    const { kind, name, file, bytes, note } = service
    if (flags['dry-run'] === true) {
      const text = bytes.toString(bytes[0] === 0xff ? 'utf16le' : 'utf8').replace(/^\ufeff/, '')
      if (json) terminal.json({ kind, name, file, text, commands, dryRun: true })
      else {
        terminal.line(`${file}:`)
        for (const line of text.trimEnd().split(/\r?\n/)) terminal.line(`  ${plain(line)}`)
        terminal.line('Then:')
        for (const one of commands) terminal.line(`  ${shell(one)}`)
      }
      return EXIT.ok
    }
    const missing = trouble(service.probe)
    if (missing !== undefined)
      throw new CommandFailure(
        'missing',
        'no_service_manager',
        `No ${kind} can be installed here: ${missing}. Nothing was written.`,
        'Hooks start the daemon at a session’s start and with each prompt; `holdpoint daemon` runs it under a manager of your own.',
      )
    if (!existsSync(join(home.bin, 'holdpoint.cjs')))
      throw new CommandFailure(
        'missing',
        'not_installed',
        `There is no program to start in ${home.bin}.`,
        'Install it: `node holdpoint.cjs install`.',
      )
    const changed = !isInstalled(service) || !readFileSync(file).equals(bytes)
    if (changed) {
      mkdirSync(dirname(file), { recursive: true })
      writeAtomic(openHome(home.root), file, bytes, 0o644)
    }
    for (const one of commands) {
      const why = trouble(one)
      if (why !== undefined)
        throw new CommandFailure(
          'failed',
          'service_failed',
          `\`${shell(one)}\` failed: ${why}.`,
          `The file is ${file}.`,
        )
    }
    if (json) terminal.json({ kind, name, file, changed, started: !running })
    else {
      terminal.line(`${changed ? 'Installed' : 'Installed already'}: ${kind} ${name} (${file}).`)
      terminal.line(
        running
          ? `The daemon that runs now (process ${running.pid}) goes on; \`holdpoint daemon restart\` puts it under the service.`
          : 'The daemon was started by it.',
      )
      terminal.line(note)
    }
    return EXIT.ok
  },
}

export const daemonUninstall: Command = {
  name: 'daemon uninstall',
  summary: 'stop the daemon and let the system start it no more (a person at a terminal only)',
  about:
    'Takes away what `holdpoint daemon install` wrote, and stops the daemon. Hooks that are installed start it again at an agent’s next session start or prompt; `holdpoint hooks uninstall` takes them away.',
  examples: [['holdpoint daemon uninstall', 'asks for the word “uninstall”']],
  async run({ home, json, terminal }) {
    const service = serviceHere(home)
    if (!isInstalled(service)) {
      if (json) terminal.json({ kind: service.kind, uninstalled: false })
      else terminal.line(`There is no ${service.kind} of ours (${service.file}).`)
      return EXIT.ok
    }
    const person = checkPerson(home.root)
    confirmWord(LOST_WHILE_DOWN, 'uninstall')
    const stopped = (await statusOrNothing(home)) !== undefined
    if (stopped) await stopDaemon(home, person)
    for (const one of service.disable) {
      const why = trouble(one)
      if (why !== undefined) terminal.note(`\`${shell(one)}\` said: ${why}`)
    }
    remove(service.file)
    if (json) terminal.json({ kind: service.kind, uninstalled: true, stopped })
    else
      terminal.line(
        `Taken away: ${service.kind} ${service.name} (${service.file}). The daemon ${stopped ? 'has stopped' : 'was not running'}.`,
      )
    return EXIT.ok
  },
}

export const daemonRestart: Command = {
  name: 'daemon restart',
  summary: 'stop the daemon and start the installed one (a person at a terminal only)',
  about:
    'Asks the daemon to end, and starts the installed one: after an update, or when something was moved. Under a service the system starts it. Between the two, for about a second, agents’ calls are not judged; they are found afterwards.',
  examples: [['holdpoint daemon restart', 'asks for the word “restart”']],
  async run({ home, json, terminal }) {
    const before = await statusOrNothing(home)
    if (before) {
      const person = checkPerson(home.root)
      confirmWord('For about a second agents’ calls are not judged.', 'restart')
      await stopDaemon(home, person)
    }
    const service = installedService(home)
    const byService = service?.start.every(one => trouble(one) === undefined) ?? false
    const status = (byService && (await answering(home))) || (await startDaemon(home))
    if (json) terminal.json({ pid: status.pid, version: status.version, before: before?.version ?? null, byService })
    else
      terminal.line(
        `The daemon runs (process ${status.pid}, version ${status.version}${byService ? `, under the ${service!.kind}` : ''}).`,
      )
    return EXIT.ok
  },
}

/** The daemon that a service has just started, once it answers: the manager answers before it does. */
async function answering(home: Home): Promise<DaemonStatus | undefined> {
  for (const until = Date.now() + SERVICE_MS; Date.now() < until; await sleep(100)) {
    const status = await statusOrNothing(home)
    if (status) return status
  }
  return undefined
}

/** The command `holdpoint`: finds the command that was meant, runs it, and ends with an exit code that says how it went. */
import { HookEditError } from '#agent/clients/hook-editor.ts'
import { ALL, COMMANDS } from '#agent/commands/all.ts'
import { type Command, readArguments } from '#agent/commands/command.ts'
import { CommandFailure, cannotWrite, EXIT, type ExitCode } from '#agent/commands/exit.ts'
import { printCommand, printHelp, unknownCommand } from '#agent/commands/help.ts'
import { VERSION } from '#agent/commands/version.ts'
import { GuardRefused } from '#agent/guard/person.ts'
import { openHome } from '#agent/home.ts'
import { openTerminal, plain } from '#agent/terminal.ts'
import { isAppError } from '#core/error.ts'

const terminal = openTerminal()

async function run(argv: string[]): Promise<ExitCode> {
  const first = argv[0]
  const option = argv.findIndex(arg => arg.startsWith('-'))
  const words = option < 0 ? argv : argv.slice(0, option)
  const wantsHelp = argv.includes('--help') || argv.includes('-h')
  if (first === '--version' || first === '-V') {
    terminal.line(`holdpoint ${VERSION}`)
    return EXIT.ok
  }
  if (words.length === 0 || first === 'help') {
    if (first !== undefined && first !== 'help' && !wantsHelp) throw unknownCommand(first, ALL)
    printHelp(terminal, COMMANDS, words.slice(1).join(' '))
    return first === undefined ? EXIT.usage : EXIT.ok
  }
  const command = findCommand(words)
  if (!command) {
    // `holdpoint team --help` and `holdpoint team`: the commands below it
    const isGroup = ALL.some(one => one.name.startsWith(`${words.join(' ')} `))
    if (!isGroup) throw unknownCommand(words.join(' '), ALL)
    printHelp(terminal, COMMANDS, words.join(' '))
    return wantsHelp ? EXIT.ok : EXIT.usage
  }
  const { args, flags } = readArguments(command, argv.slice(command.name.split(' ').length))
  if (flags.help === true) {
    printCommand(terminal, command)
    return EXIT.ok
  }
  return command.run({ args, flags, json: flags.json === true, home: openHome(), terminal })
}

/** The longest command that the words begin with. */
function findCommand(words: string[]): Command | undefined {
  for (let n = Math.min(words.length, 4); n > 0; n--) {
    const name = words.slice(0, n).join(' ')
    const found = ALL.find(command => command.name === name)
    if (found) return found
  }
  return undefined
}

/** Prints why a command ended early, and returns its exit code. */
function fail(error: unknown, json: boolean): ExitCode {
  const failure = asFailure(error)
  if (json)
    terminal.json({
      error: {
        code: failure.code,
        message: plain(failure.message),
        ...(failure.remedy ? { remedy: plain(failure.remedy) } : {}),
      },
    })
  else {
    terminal.note(`holdpoint: ${plain(failure.message)}`)
    if (failure.remedy) terminal.note(plain(failure.remedy))
  }
  return failure.exit
}

function asFailure(error: unknown): CommandFailure {
  if (error instanceof CommandFailure) return error
  if (error instanceof GuardRefused)
    return new CommandFailure('failed', error.code, error.message, guardRemedy(error.code))
  if (error instanceof HookEditError)
    return new CommandFailure('failed', error.code, `${error.message}. Nothing was written.`)
  if (isAppError(error)) return new CommandFailure('failed', error.code, error.message, error.remedy)
  const code = (error as NodeJS.ErrnoException | undefined)?.code
  const words = error instanceof Error ? cannotWrite(error, openHome().root) : String(error)
  return new CommandFailure('failed', code ?? 'internal', words)
}

function guardRemedy(code: GuardRefused['code']): string | undefined {
  if (code === 'not_confirmed') return undefined
  return 'A person runs this in a terminal window, a login shell or an ssh session of their own, not through an agent or an editor.'
}

// a reader that has gone (`| head`) is no failure
process.stdout.on('error', () => process.exit(EXIT.ok))

run(process.argv.slice(2)).then(
  code => {
    process.exitCode = code
  },
  (error: unknown) => {
    process.exitCode = fail(error, process.argv.includes('--json'))
  },
)

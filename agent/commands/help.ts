import { columns, plain, type Terminal } from '#agent/terminal.ts'
import { nearest } from '#core/boundary/problem.ts'
import { type Command, EVERYWHERE, fold, type Option } from './command.ts'
import { CommandFailure, EXIT_WORDS } from './exit.ts'

type Group = { heading: string; commands: readonly Command[] }

/** The list of commands, or what begins with `topic`. @throws CommandFailure for a topic that is none */
export function printHelp(terminal: Terminal, groups: readonly Group[], topic: string): void {
  if (topic === '') printAll(terminal, groups)
  else if (topic === 'exit-codes') printExitCodes(terminal)
  else printTopic(terminal, groups, topic)
}

function printTopic(terminal: Terminal, groups: readonly Group[], topic: string): void {
  const all = groups.flatMap(group => group.commands)
  const exact = all.find(command => command.name === topic)
  const below = all.filter(command => command.name.startsWith(`${topic} `))
  if (exact) printCommand(terminal, exact)
  if (below.length > 0) {
    if (exact) terminal.line()
    terminal.line(terminal.paint('bold', `holdpoint ${topic} …`))
    for (const line of columns(
      below.map(command => [command.name, command.summary]),
      '  ',
    ))
      terminal.line(line)
  }
  if (!exact && below.length === 0) throw unknownCommand(topic, all)
}

export function unknownCommand(typed: string, all: readonly Command[]): CommandFailure {
  const names = [...new Set([...all.flatMap(({ name }) => [name, name.split(' ')[0]!]), 'help', 'help exit-codes'])]
  const guess = nearest(typed, names) ?? nearest(typed.split(' ')[0]!, names)
  return new CommandFailure(
    'usage',
    'unknown_command',
    `\`${plain(typed, 80)}\` is no command.`,
    guess ? `Did you mean \`holdpoint ${guess}\`?` : 'See `holdpoint help`.',
  )
}

function printAll(terminal: Terminal, groups: readonly Group[]): void {
  terminal.line('holdpoint: a limit set before work starts, and a record of who let the agent go further.')
  const width = Math.max(...groups.flatMap(group => group.commands.map(command => signature(command).length)))
  for (const { heading, commands } of groups) {
    terminal.line()
    terminal.line(terminal.paint('bold', heading))
    for (const line of columns(
      commands.map(command => [signature(command).padEnd(width), command.summary]),
      '  ',
    ))
      terminal.line(line)
  }
  terminal.line()
  terminal.line('`holdpoint COMMAND --help` explains one, `holdpoint help exit-codes` lists what exit codes mean.')
  terminal.line('Every command takes --json.')
}

const signature = (command: Command) => [command.name, command.takes].filter(Boolean).join(' ')

/** What a command does, takes and is used for. */
export function printCommand(terminal: Terminal, command: Command): void {
  const options = { ...command.options, ...EVERYWHERE }
  terminal.line(`${terminal.paint('bold', `holdpoint ${signature(command)}`)}${command.options ? ' [options]' : ''}`)
  terminal.line()
  for (const line of fold(command.about)) terminal.line(line)
  terminal.line()
  terminal.line(terminal.paint('bold', 'Options'))
  for (const line of columns(
    Object.entries(options).map(([name, option]) => [spelling(name, option), option.help]),
    '  ',
  ))
    terminal.line(line)
  terminal.line()
  terminal.line(terminal.paint('bold', command.examples.length === 1 ? 'Example' : 'Examples'))
  for (const line of columns(
    command.examples.map(([line, what]) => [line, `# ${what}`]),
    '  ',
  ))
    terminal.line(line)
}

const spelling = (name: string, { short, value }: Option) =>
  `${short ? `-${short}, ` : ''}--${name}${value ? ` ${value}` : ''}`

function printExitCodes(terminal: Terminal): void {
  terminal.line('How a command ended, for scripts:')
  for (const line of columns(Object.entries(EXIT_WORDS), '  ')) terminal.line(line)
  terminal.line()
  terminal.line('With --json a failure prints {"error":{"code","message","remedy"}} on standard output.')
}

/** What a command is, and how its arguments are read. */
import { parseArgs } from 'node:util'
import type { Home } from '#agent/home.ts'
import type { Terminal } from '#agent/terminal.ts'
import { nearest } from '#core/boundary/problem.ts'
import { CommandFailure, type ExitCode } from './exit.ts'

export type Option = {
  type: 'boolean' | 'string'
  short?: string
  /** How its value is called in the help: `FILE`. */
  value?: string
  help: string
}
export type Flags = Readonly<Record<string, string | boolean | undefined>>

/** One call of a command, its arguments read. */
export type Call = { args: string[]; flags: Flags; json: boolean; home: Home; terminal: Terminal }

export type Command = {
  /** As typed: `hooks install`. */
  name: string
  /** One line, for the list of commands. */
  summary: string
  /** What follows the name: `<id>`, `[LINE]`. */
  takes?: string
  /** How many arguments at least and at most; none when absent. */
  args?: [number, number]
  options?: Readonly<Record<string, Option>>
  /** What it does and what it does not, in sentences. */
  about: string
  /** Command lines, each with what it is for. */
  examples: readonly (readonly [string, string])[]
  run(call: Call): Promise<ExitCode>
}

export const EVERYWHERE: Readonly<Record<string, Option>> = {
  json: { type: 'boolean', help: 'print the result as JSON' },
  help: { type: 'boolean', short: 'h', help: 'show this' },
}

/** Reads a command's arguments. Anything it does not know is refused, with the nearest thing that it does. */
export function readArguments(command: Command, argv: string[]): { args: string[]; flags: Flags } {
  const options: Record<string, Option> = { ...command.options, ...EVERYWHERE }
  const usage = (message: string, remedy?: string) =>
    new CommandFailure('usage', 'usage', message, remedy ?? `See \`holdpoint ${command.name} --help\`.`)
  const known = Object.fromEntries(
    Object.entries(options).map(([name, { type, short }]) => [name, short ? { type, short } : { type }]),
  )
  const { tokens, positionals } = parseArgs({
    args: argv,
    options: known,
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  const flags: Record<string, string | boolean> = {}
  for (const token of tokens) {
    if (token.kind !== 'option') continue
    const option = options[token.name]
    if (!option) {
      const guess = nearest(token.name, Object.keys(options))
      throw usage(
        `\`${token.rawName}\` is no option of \`holdpoint ${command.name}\`.`,
        guess && `Did you mean \`--${guess}\`?`,
      )
    }
    if (token.name in flags) throw usage(`\`--${token.name}\` stands twice.`)
    if (option.type === 'boolean') {
      if (token.value !== undefined) throw usage(`\`--${token.name}\` takes no value.`)
      flags[token.name] = true
    } else {
      if (token.value === undefined || token.value === '')
        throw usage(`\`--${token.name}\` wants ${option.value ?? 'a value'}.`)
      if (!token.inlineValue && token.value.startsWith('--'))
        throw usage(`\`--${token.name}\` wants ${option.value ?? 'a value'}, not the option \`${token.value}\`.`)
      flags[token.name] = token.value
    }
  }
  const [least, most] = command.args ?? [0, 0]
  if (flags.help !== true) {
    if (positionals.length < least) throw usage(`\`holdpoint ${command.name}\` wants ${command.takes}.`)
    if (positionals.length > most) throw usage(`\`${positionals[most]}\` is one argument too many.`)
  }
  return { args: positionals, flags }
}

/** Folds a text into lines of at most `width` characters. */
export function fold(text: string, width = 92, indent = ''): string[] {
  return text.split('\n').flatMap(paragraph => {
    const lines: string[] = []
    let line = ''
    for (const word of paragraph.split(' ')) {
      if (line && line.length + 1 + word.length > width) {
        lines.push(line)
        line = word
      } else line = line ? `${line} ${word}` : word
    }
    return [...lines, line].map(one => (one ? indent + one : ''))
  })
}

/** Clients that take commands only: our entries in their file, known again and judged. */
import { statSync } from 'node:fs'
import { readConfigText } from './config-file.ts'
import { HookEditError, type HookFinding, type HookInstall, type HookProbe } from './hook-editor.ts'
import { type Entry, type FoundEntry, findOurs, type HookLists, isForEvery, isOurPath } from './hook-lists.ts'
import { wordsOf } from './shell-line.ts'

export type CommandHooks = {
  client: string
  title: string
  lists: HookLists
  /** What stands in the file at an event. */
  entryOf(event: string, request: HookInstall): Entry
  /** An entry's line for the shell. */
  lineOf(entry: Entry): unknown
  /** The line that we write at the pause point for such words. */
  lineFor(words: readonly string[], whenBroken: HookInstall['whenBroken']): string
  timeoutMs(entry: Entry): number
  /** Fields that make a client pass over an entry, or not wait for it, when they are set. */
  narrowing: readonly string[]
  /** The file as the client reads it. @throws SyntaxError */
  read(text: string): unknown
}

/** The program and what it is told: the client, the event, and `block` where nobody's answer shall refuse. */
export function programWords(
  client: string,
  event: string,
  { hookCommand }: HookInstall,
  isBlocking: boolean,
): string[] {
  return [hookCommand.exe, ...hookCommand.args, client, event, ...(isBlocking ? ['block'] : [])]
}

/** The words of a line that runs our program for a client; undefined for any other. */
export function ourWords(client: string, events: readonly string[], line: unknown): string[] | undefined {
  const words = typeof line === 'string' ? wordsOf(line) : undefined
  if (words === undefined) return undefined
  const at = words.findIndex((word, i) => word === client && i > 0 && events.includes(words[i + 1] ?? ''))
  return at > 0 && words.slice(0, at).some(isOurPath) ? words : undefined
}

/** Our hook for tool calls as it stands in a file; undefined where there is none, or nothing can be read. */
export function probeCommandHooks(hooks: CommandHooks, file: string): HookProbe | undefined {
  const { lists, lineOf, timeoutMs, read } = hooks
  let content: unknown
  try {
    content = read(readConfigText(file) ?? '')
  } catch (error) {
    if (error instanceof HookEditError || error instanceof SyntaxError) return undefined
    throw error
  }
  const found = findOurs(content, lists).find(({ event }) => event === lists.events[0])
  return (
    found && {
      form: 'command',
      run: { shell: String(lineOf(found.entry)) },
      timeoutMs: timeoutMs(found.entry),
      env: {},
    }
  )
}

export type FoundHooks = {
  /** Undefined where the file is not there, or cannot be read as the client's. */
  content: unknown
  entries: FoundEntry[]
  findings: HookFinding[]
}

/** Reads the file that holds our entries. */
export function readCommandHooks({ lists, read, title }: CommandHooks, file: string): FoundHooks {
  const broken = (why: string): FoundHooks => ({
    content: undefined,
    entries: [],
    findings: [{ severity: 'off', code: 'settings_unusable', text: `${title} cannot use ${file}: ${why}.`, file }],
  })
  try {
    const text = readConfigText(file)
    if (text === undefined || text.trim() === '') return { content: undefined, entries: [], findings: [] }
    const content = read(text)
    return { content, entries: findOurs(content, lists), findings: [] }
  } catch (error) {
    if (error instanceof HookEditError) return broken(error.message)
    if (error instanceof SyntaxError) return broken('it is not valid JSON')
    throw error
  }
}

const isProgram = (path: string) => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false
const nameOf = (path: string) => path.split(/[\\/]/).at(-1)

/** What is wrong with our own entries: missing, narrowed, slow, gone, or not what would be installed now. */
export function judgeEntries(
  hooks: CommandHooks,
  entries: readonly FoundEntry[],
  file: string,
  expected: HookInstall | undefined,
): { findings: HookFinding[]; whenBroken: HookInstall['whenBroken']; outdated: boolean } {
  const { lists, lineOf, client, title } = hooks
  const pause = lists.events[0]!
  const findings: HookFinding[] = []
  const add = (severity: HookFinding['severity'], code: string, text: string) =>
    findings.push({ severity, code, text, file })
  for (const event of lists.events) {
    if (entries.some(one => one.event === event)) continue
    const what =
      event === pause ? 'no tool call is seen' : 'less is learned of sessions, and a daemon that is down may stay down'
    add(event === pause ? 'off' : 'risk', 'hook_removed', `The ${event} hook is missing: ${what}.`)
  }
  const main = entries.find(one => one.event === pause)
  const words = main && ourWords(client, lists.events, lineOf(main.entry))
  if (main && words) {
    if (hooks.lineFor(words, brokenIn(words)) !== lineOf(main.entry))
      add('off', 'hook_edited', `The command of the ${pause} hook was changed, so that its refusals may not hold.`)
    if (!isForEvery(main.matcher)) add('off', 'hook_edited', `The ${pause} hook was narrowed to some tools.`)
    for (const key of hooks.narrowing)
      if (main.entry[key] !== undefined && main.entry[key] !== false)
        add('off', 'hook_edited', `The ${pause} hook was given "${key}", so that calls pass it by.`)
    if (!(hooks.timeoutMs(main.entry) >= 2500))
      add(
        'off',
        'hook_edited',
        `The time-out of the ${pause} hook was changed: ${title} lets calls run when it is over.`,
      )
    const missing = words.find(word => word.startsWith('/') && !isProgram(word))
    if (missing)
      add(
        'off',
        'hook_program_missing',
        `The ${pause} hook’s program is not there: ${missing}. Install the hooks again.`,
      )
  }
  const asExpected = (one: FoundEntry) =>
    expected && hooks.entryOf(one.event, withFoundNode(hooks, one.entry, expected))
  const outdated = expected !== undefined && entries.some(one => !isSame(one.entry, asExpected(one)))
  if (main && words && expected) {
    const { exe, args } = withFoundNode(hooks, main.entry, expected).hookCommand
    const runs = [exe, ...args, client, pause].every((word, i) => words[i] === word)
    if (!runs) add('off', 'hook_elsewhere', `The ${pause} hook runs another program than ours.`)
  }
  return { findings, whenBroken: brokenIn(words ?? []), outdated }
}

const brokenIn = (words: readonly string[]) => (words.at(-1) === 'block' ? 'block' : 'pass')

const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)

/** The same install as if the Node that an entry names had made it, where that Node is still there. */
function withFoundNode({ client, lists, lineOf }: CommandHooks, entry: Entry, request: HookInstall): HookInstall {
  const exe = ourWords(client, lists.events, lineOf(entry))?.[0]
  const { hookCommand } = request
  if (exe === undefined || nameOf(exe) !== nameOf(hookCommand.exe) || !isProgram(exe)) return request
  return { ...request, hookCommand: { ...hookCommand, exe } }
}

/** The level that findings leave, once there are entries of ours. */
export const levelOf = (findings: readonly HookFinding[]): 'broken' | 'user-hook' =>
  findings.some(({ severity }) => severity === 'off') ? 'broken' : 'user-hook'

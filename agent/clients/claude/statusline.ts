/** What we write into Claude Code's settings.json for its status line, and how it is known again. Pure. */
import { HookEditError } from '#agent/clients/hook-editor.ts'
import { nodeAt, plainOf, removeIn, setIn } from '#agent/clients/json-text.ts'
import { readSettings, type SettingsPlan } from './settings.ts'

/** Our program: absolute paths of what runs it and of itself, which ends in `bin/statusline.cjs`. */
export type StatusLineProgram = { exe: string; script: string }

/** The client hands the line to a shell. */
const quote = (path: string) => `"${path.replace(/(["$`\\])/g, process.platform === 'win32' ? '$1' : '\\$1')}"`
const OURS = /^"(?:[^"\\]|\\.)*" "(?:[^"\\]|\\.)*[\\/]bin[\\/]statusline\.cjs"(?: wrap ([A-Za-z0-9_-]+))?$/

/** The command line, with the one that stood there before in it: it runs as it did, and can be put back. */
function statusLineCommand({ exe, script }: StatusLineProgram, wrapped: string | undefined): string {
  const own = `${quote(exe)} ${quote(script)}`
  return wrapped === undefined ? own : `${own} wrap ${Buffer.from(wrapped).toString('base64url')}`
}

/** Whether a command line is ours, of any version, and what it wraps. */
function readStatusLineCommand(command: unknown): { wrapped: string | undefined } | undefined {
  const found = typeof command === 'string' ? OURS.exec(command) : null
  if (!found) return undefined
  return { wrapped: found[1] === undefined ? undefined : Buffer.from(found[1], 'base64url').toString('utf8') }
}

/** The command that is set; undefined where there is none. @throws HookEditError where it is of a form that cannot be wrapped */
function commandIn(text: string): { command: string | undefined } {
  const node = nodeAt(readSettings(text), ['statusLine'])
  if (node === undefined) return { command: undefined }
  const line = plainOf(node) as { type?: unknown; command?: unknown } | null
  if (typeof line !== 'object' || line === null || line.type !== 'command' || typeof line.command !== 'string')
    throw new HookEditError(
      'wrong_shape',
      'statusLine is not of the form that runs a command, so it cannot be kept beside ours',
    )
  return { command: line.command }
}

/** What is set in a text of settings. @throws HookEditError */
export function findStatusLine(text: string | undefined): {
  isOurs: boolean
  wrapped: string | undefined
  other: string | undefined
} {
  const { command } = text === undefined || text.trim() === '' ? { command: undefined } : commandIn(text)
  const ours = readStatusLineCommand(command)
  return { isOurs: ours !== undefined, wrapped: ours?.wrapped, other: ours ? undefined : command }
}

/** The settings with our status line, and within it the one that stood there. @throws HookEditError */
export function planStatusLine(before: string | undefined, program: StatusLineProgram): SettingsPlan {
  const text = before === undefined || before.trim() === '' ? '{}\n' : before
  const { command } = commandIn(text)
  const ours = readStatusLineCommand(command)
  const wrapped = ours ? ours.wrapped : command
  const next = statusLineCommand(program, wrapped)
  if (command === next) return { text, changes: [] }
  if (command === undefined)
    return { text: setIn(text, ['statusLine'], { type: 'command', command: next }), changes: ['added a status line'] }
  const what = ours ? 'brought our status line up to date' : 'put our status line around the one that is there'
  return { text: setIn(text, ['statusLine', 'command'], next), changes: [what] }
}

/** The settings without ours, and with the one that it wrapped. @throws HookEditError */
export function planStatusLineRemoval(before: string): SettingsPlan {
  const { command } = commandIn(before)
  const ours = readStatusLineCommand(command)
  if (!ours) return { text: before, changes: [] }
  if (ours.wrapped === undefined)
    return { text: removeIn(before, ['statusLine']), changes: ['removed our status line'] }
  return {
    text: setIn(before, ['statusLine', 'command'], ours.wrapped),
    changes: ['took our status line away from around the other one'],
  }
}

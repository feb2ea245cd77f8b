/** The system's own notifier: which program shows a notice, with which words, and which terminal it may open. No shell, no file. */
import { findProgram } from '#agent/clients/found.ts'

/** `id`: what an answer is about; absent: nothing can be answered from the notice. */
export type Notice = { title: string; body: string; id?: string; mayApprove?: boolean }
export type Env = Readonly<Record<string, string | undefined>>
/** A program with its arguments, and what its environment has besides. */
export type Program = { exe: string; args: string[]; env?: Record<string, string> }

/** Names a program on PATH; undefined when it is not there. */
export type Find = (name: string) => string | undefined
export const findIn =
  (env: Env): Find =>
  name =>
    findProgram(name, { env })

/** Text comes as an argument of the script, not as part of it. */
const APPLE = ['on run argv', 'display notification (item 2 of argv) with title (item 1 of argv)', 'end run']
const TOAST = [
  '$n = [Windows.UI.Notifications.ToastNotificationManager, Windows.UI.Notifications, ContentType = WindowsRuntime]',
  '$x = $n::GetTemplateContent([Windows.UI.Notifications.ToastTemplateType]::ToastText02)',
  '$t = $x.GetElementsByTagName("text")',
  '$t.Item(0).AppendChild($x.CreateTextNode($env:HOLDPOINT_TITLE)) | Out-Null',
  '$t.Item(1).AppendChild($x.CreateTextNode($env:HOLDPOINT_BODY)) | Out-Null',
  '$n::CreateToastNotifier("Holdpoint").Show([Windows.UI.Notifications.ToastNotification]::new($x))',
].join('; ')

/** How a notice is shown here; undefined where nobody would see it. `withActions`: the notifier can say which button was pressed. */
export function notifierFor(
  platform: NodeJS.Platform,
  env: Env,
  find: Find,
  { title, body, id, mayApprove }: Notice,
  withActions: boolean,
): Program | undefined {
  if (platform === 'darwin') {
    const exe = find('osascript')
    return exe ? { exe, args: [...APPLE.flatMap(line => ['-e', line]), title, body] } : undefined
  }
  if (platform === 'win32') {
    const exe = find('powershell')
    if (!exe) return undefined
    const args = ['-NoProfile', '-NonInteractive', '-Command', TOAST]
    return { exe, args, env: { HOLDPOINT_TITLE: title, HOLDPOINT_BODY: body } }
  }
  const isSeen = env.DBUS_SESSION_BUS_ADDRESS ?? env.WAYLAND_DISPLAY ?? env.DISPLAY
  const exe = isSeen ? find('notify-send') : undefined
  if (!exe) return undefined
  const actions =
    withActions && id !== undefined ? ['--action=deny=Deny', ...(mayApprove ? ['--action=approve=Approve…'] : [])] : []
  return { exe, args: ['--app-name=Holdpoint', ...actions, '--', title, body] }
}

/** Terminals of Linux, each with what stands between it and the program it runs. */
const TERMINALS: readonly (readonly [name: string, ...between: string[]])[] = [
  ['x-terminal-emulator', '-e'],
  ['gnome-terminal', '--'],
  ['konsole', '-e'],
  ['xfce4-terminal', '-x'],
  ['kitty'],
  ['alacritty', '-e'],
  ['xterm', '-e'],
]

/** A terminal that runs `holdpoint approve <id> --confirm`, where a person then types; undefined where none is known. */
export function approveTerminal(find: Find, node: string, program: string, id: string): Program | undefined {
  for (const [name, ...between] of TERMINALS) {
    const exe = find(name)
    if (exe) return { exe, args: [...between, node, program, 'approve', id, '--confirm'] }
  }
  return undefined
}

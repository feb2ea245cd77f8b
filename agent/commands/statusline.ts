import { existsSync } from 'node:fs'
import { claude } from '#agent/clients/claude/claude.ts'
import { installStatusLine, statusLineOf, uninstallStatusLine } from '#agent/clients/claude/statusline-file.ts'
import type { HookChange } from '#agent/clients/hook-editor.ts'
import { askDaemon } from '#agent/daemon-client.ts'
import type { ShownFigure } from '#agent/figures/shown.ts'
import { checkPerson, confirmWord } from '#agent/guard/person.ts'
import { type Home, writeAtomic } from '#agent/home.ts'
import { statusLineProgram } from '#agent/hook-programs.ts'
import { plain, span } from '#agent/terminal.ts'
import { readingWords } from './code-words.ts'
import type { Call, Command, Option } from './command.ts'
import { valueWords } from './decision.ts'
import { CommandFailure, EXIT } from './exit.ts'
import { clientHome } from './hook-plan.ts'
import { showPlan, summary } from './hook-words.ts'
import { STATUSLINE_SOURCE } from './version.ts'

const DRY_RUN: Record<string, Option> = {
  'dry-run': { type: 'boolean', help: 'show what would change and change nothing' },
}

/** The program, put into the home where it is not there yet. @throws CommandFailure */
function readyProgram(home: Home, dryRun: boolean): { exe: string; script: string } {
  const script = statusLineProgram(home)
  if (!dryRun && STATUSLINE_SOURCE !== undefined) writeAtomic(home, script, STATUSLINE_SOURCE, 0o755)
  else if (!existsSync(script) && !dryRun)
    throw new CommandFailure(
      'missing',
      'not_installed',
      'The program for the status line is not on this machine.',
      'Run `holdpoint install` first.',
    )
  return { exe: process.execPath, script }
}

/** Shows the change, does it, and tells it. */
function change({ json, terminal }: Call, planned: HookChange, dryRun: boolean, act: () => HookChange): void {
  if (!json) showPlan(terminal, claude as never, planned, dryRun)
  const done = dryRun || planned.changes.length === 0 ? planned : act()
  if (json) terminal.json({ ...summary(done), dryRun })
  else if (!dryRun && done.changes.length > 0)
    terminal.line(`Written.${done.backup ? ` The file as it was: ${plain(done.backup)}` : ''}`)
}

export const statusLineInstall: Command = {
  name: 'statusline install',
  summary: 'let Claude Code’s status line tell how much of your plan is left',
  options: DRY_RUN,
  about:
    'Adds our status line to Claude Code’s settings, around the one that is there: that one runs as it did and its output stays, a line of ours stands below it with the session’s cost, what is left of the plan’s windows and what waits for an answer. ' +
    'The plan’s windows are what `plan_left_pct` reads. Claude Code draws the line at the keyboard only (not in `claude -p`), and tells limits for a login with a plan only. Running it twice changes nothing.',
  examples: [
    ['holdpoint statusline install --dry-run', 'look first'],
    ['holdpoint statusline install', 'for sessions that begin from now on'],
  ],
  async run(call) {
    const dryRun = call.flags['dry-run'] === true
    const program = readyProgram(call.home, dryRun)
    const planned = installStatusLine(clientHome(), program, { dryRun: true })
    change(call, planned, dryRun, () => installStatusLine(clientHome(), program, { dryRun: false }))
    return EXIT.ok
  },
}

export const statusLineUninstall: Command = {
  name: 'statusline uninstall',
  summary: 'put the former status line back (a person at a terminal only)',
  options: DRY_RUN,
  about:
    'Takes our status line out of Claude Code’s settings and puts back what it was put around. If the file is as the install left it, its former bytes come back. Afterwards `plan_left_pct` is unread for Claude Code, and a rule on it lets calls through unless it says on_unknown: hold.',
  examples: [['holdpoint statusline uninstall', 'asks for the word “uninstall”']],
  async run(call) {
    const dryRun = call.flags['dry-run'] === true
    const planned = uninstallStatusLine(clientHome(), { dryRun: true })
    // whoever is refused is shown nothing of the settings first
    if (!dryRun && planned.changes.length > 0) checkPerson(call.home.root)
    change(call, planned, dryRun, () => {
      confirmWord('Without the status line nothing tells how much of Claude Code’s plan is left.', 'uninstall')
      return uninstallStatusLine(clientHome(), { dryRun: false })
    })
    return EXIT.ok
  },
}

export const statusLineStatus: Command = {
  name: 'statusline status',
  summary: 'whether the status line is ours, and what it told last',
  about:
    'Reads Claude Code’s own settings and asks the daemon what is known of the plan’s windows. Exit code 4 when the status line is not ours. A project’s settings can set another status line for its folder; then nothing is told there.',
  examples: [['holdpoint statusline status', 'is anything told?']],
  async run({ home, json, terminal }) {
    const { file, isOurs, wrapped, other } = statusLineOf(clientHome())
    const told = await askDaemon<ShownFigure[]>(home, 'GET', '/api/figures').catch((error: unknown) => {
      if (error instanceof CommandFailure && error.code === 'daemon_missing') return undefined
      throw error
    })
    const windows = told?.filter(
      ({ name, session, plan }) => name === 'plan_left_pct' && session === undefined && plan !== 'openai',
    )
    if (json) {
      terminal.json({ settings: file, installed: isOurs, wrapped, other, windows })
      return isOurs ? EXIT.ok : EXIT.missing
    }
    terminal.line(
      isOurs
        ? `Claude Code’s status line is ours${wrapped === undefined ? '' : `, around \`${plain(wrapped, 200)}\``} (${plain(file, 300)}).`
        : `Claude Code’s status line is not ours${other === undefined ? '' : `, but \`${plain(other, 200)}\``}: run \`holdpoint statusline install\`.`,
    )
    if (windows === undefined) terminal.line('The daemon is not running, so nothing is known of the plan.')
    for (const { qualifier = '', value, unit, ageS, problem } of windows ?? [])
      terminal.line(
        `  ${qualifier}: ${value === 'unread' ? 'unread' : `${valueWords(value, unit)} left`}${ageS === undefined ? '' : `, told ${span(ageS)} ago`}${problem ? ` (${readingWords(problem)})` : ''}`,
      )
    return isOurs ? EXIT.ok : EXIT.missing
  },
}

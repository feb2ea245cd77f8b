/** What the hooks commands print. */
import type { ClientAdapter } from '#agent/clients/adapter.ts'
import type { HookChange, HookForm, HookInspection, WhenBroken } from '#agent/clients/hook-editor.ts'
import { USAGE_SOURCES } from '#agent/clients/sources.ts'
import type { ChosenForm } from '#agent/hook-form.ts'
import { plain, type Terminal } from '#agent/terminal.ts'
import { lineDiff } from './diff.ts'
import { failsClosed } from './hook-plan.ts'

export const summary = (change: HookChange) => ({
  file: change.file,
  changes: change.changes,
  ...(change.backup ? { backup: change.backup } : {}),
})

export function showPlan(terminal: Terminal, adapter: ClientAdapter, change: HookChange, dryRun: boolean): void {
  if (change.changes.length === 0) {
    terminal.line(`${change.file} is as it should be; nothing to change.`)
    return
  }
  terminal.line(`${adapter.title}: ${change.file}${dryRun ? ' (dry run: nothing is written)' : ''}`)
  for (const what of change.changes) terminal.line(`  ${what}`)
  terminal.line()
  for (const line of lineDiff(change.before ?? '', change.after ?? '')) {
    const colour = line[0] === '+' ? 'green' : line[0] === '-' ? 'red' : 'dim'
    terminal.line(`  ${terminal.paint(colour, plain(hideToken(line.replaceAll('\t', '  '))))}`)
  }
  terminal.line()
}

/** The token may submit events; it need not stand in a terminal's history all the same. */
const hideToken = (line: string) => line.replace(/(Bearer )[A-Za-z0-9_-]{8,}/, '$1…')

/** The installed form, and whether it is the one that suits this machine. */
export function formWords(form: HookForm, suits: ChosenForm): string {
  if (form === suits.form) return `It is the ${form} form, because ${plain(suits.why)}.`
  return form === 'http'
    ? `It is the http form, although ${plain(suits.why)}: file modes alone keep its token from them. \`holdpoint hooks install\` changes it to the command form.`
    : `It is the ${form} form, although ${plain(suits.why)}; the http form would cost less time a call.`
}

/** Calls that no hook told of are found in the client's own records, where those are read. */
const hasRecords = ({ client }: ClientAdapter) => USAGE_SOURCES.some(source => source.client === client)

/** What happens to a call while Holdpoint is broken, and by whose doing. */
export function brokenWords(adapter: ClientAdapter, form: HookForm, whenBroken: WhenBroken | undefined): string {
  if (whenBroken !== 'block')
    return `While Holdpoint is broken calls run${hasRecords(adapter) ? ', and are counted as not judged' : ''}.`
  return failsClosed(adapter, form) === 'client'
    ? `While Holdpoint is broken ${adapter.title} refuses calls.`
    : `While Holdpoint is broken its program refuses calls; when that program itself is missing, killed or too slow ${adapter.title} lets them run.`
}

export function showFindings(terminal: Terminal, adapter: ClientAdapter, inspection: HookInspection): void {
  const { findings, level, form } = inspection
  for (const { severity, text } of findings)
    terminal.line(
      `  ${severity === 'off' ? terminal.paint('red', 'off ') : terminal.paint('yellow', 'risk')}  ${plain(text)}`,
    )
  if (level === 'not-installed') return
  const ways = ['edits that file', ...(form && adapter.undoneBy ? adapter.undoneBy(form) : []), 'or stops the daemon']
  terminal.line(`  This is a user hook. It stops holding when someone ${ways.join(', ')}.`)
  if (hasRecords(adapter)) terminal.line('  Calls that nobody judged are found afterwards and shown.')
  for (const limit of adapter.limits) terminal.line(`  ${plain(limit)}`)
}

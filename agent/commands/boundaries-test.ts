import { readFileSync } from 'node:fs'
import { OTHER_SECTIONS } from '#agent/daemon/rules.ts'
import { type Home, readKeptText } from '#agent/home.ts'
import { columns, count, plain, type Terminal } from '#agent/terminal.ts'
import { type CaseResult, caseToJson, runCases } from '#core/boundary/cases.ts'
import { itemLines } from '#core/boundary/flow-text.ts'
import { missingCases } from '#core/boundary/missing-cases.ts'
import type { Problem } from '#core/boundary/problem.ts'
import { type BoundaryCase, type Rule, requirementText, type Scope } from '#core/boundary/shape.ts'
import { parseLocalDocument, parseRuleDocument } from '#core/rules/document.ts'
import type { Call, Command } from './command.ts'
import { CommandFailure, EXIT } from './exit.ts'

type Tested = { file: string; scope: Scope; rules: Rule[]; tests: BoundaryCase[]; errors: Problem[] }

export const boundariesTest: Command = {
  name: 'boundaries test',
  summary: 'run the cases that stand beside rules, and propose those that are missing',
  takes: '[FILE]',
  args: [0, 1],
  options: {
    organisation: {
      type: 'boolean',
      help: 'FILE is an organisation’s text, as `team admin boundaries --get` prints it',
    },
    missing: { type: 'boolean', help: 'print only the missing cases, to be pasted below `tests:`' },
  },
  about:
    'Runs the cases under `tests:` of ~/.holdpoint/config.yaml, or of FILE (- for standard input), against the rules of the same text, every rule as if it were enforced. Exit code 1 when a case fails or the text has a mistake. ' +
    'Then it proposes the cases at the edge of each condition that nobody has written: one that must stop, one that must pass. An organisation’s cases stand in its text and are not sent to machines: get that and test it as FILE with --organisation.',
  examples: [
    ['holdpoint boundaries test', 'before a rule is promoted'],
    ['holdpoint boundaries test --organisation org.yaml', 'before it is published'],
    ['holdpoint boundaries test --missing', 'cases to paste'],
  ],
  async run(call) {
    const { flags, json, terminal } = call
    const tested = readTested(call)
    if (tested.errors.length > 0) throw mistakes(tested)
    const results = runCases(tested.rules, tested.tests, tested.scope)
    const missing = missingCases(tested.rules, tested.tests)
    const failed = results.filter(result => !result.ok)
    if (json) terminal.json(asJson(tested, results, missing))
    else if (flags.missing === true) printCases(terminal, missing)
    else print(terminal, tested, results, missing)
    return failed.length > 0 ? EXIT.failed : EXIT.ok
  },
}

function readTested({ args, flags, home }: Call): Tested {
  const file = args[0] ?? home.config
  const scope: Scope = flags.organisation === true ? 'organisation' : 'local'
  if (scope === 'organisation' && args[0] === undefined)
    throw new CommandFailure(
      'usage',
      'usage',
      'With --organisation give the file.',
      'An owner or admin gets it: `holdpoint team admin boundaries --get > org.yaml`.',
    )
  const text = textOf(file, home, args[0] !== undefined)
  if (scope === 'organisation') return { file, scope, ...parseRuleDocument(text) }
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone
  return { file, scope, ...parseLocalDocument(text, { zone, other: OTHER_SECTIONS }) }
}

function textOf(file: string, home: Home, isGiven: boolean): string {
  if (isGiven) return readFileSync(file === '-' ? 0 : file, 'utf8')
  const text = readKeptText(home.config)
  if (text !== undefined) return text
  throw new CommandFailure(
    'missing',
    'no_config',
    `There is nothing to test: your own rules stand in ${home.config}, and that file is not there or cannot be read.`,
    'Name another file: `holdpoint boundaries test FILE`.',
  )
}

function mistakes({ file, errors }: Tested): CommandFailure {
  const [first] = errors
  const { line, column, rule, message, remedy } = first!
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : ''
  return new CommandFailure(
    'failed',
    'mistakes',
    `${file}: line ${line}, column ${column}: ${rule ? `${rule}: ` : ''}${message}${more}. No case was run.`,
    `${remedy[0]?.toUpperCase()}${remedy.slice(1)}.`,
  )
}

/** What a case is called in a list: its name, or what it is about. */
const caseName = (item: BoundaryCase): string => {
  const { name: _, expect: __, ...about } = caseToJson(item)
  return plain(item.name ?? JSON.stringify(about), 160)
}

function asJson({ file, scope, rules }: Tested, results: CaseResult[], missing: BoundaryCase[]) {
  return {
    file,
    scope,
    rules: rules.length,
    failed: results.filter(({ ok }) => !ok).length,
    cases: results.map(({ case: item, outcome, decidedBy, ok, undecided }) => ({
      ...caseToJson(item),
      got: requirementText(outcome),
      decidedBy,
      ok,
      undecided,
    })),
    missing: missing.map(caseToJson),
  }
}

function print(terminal: Terminal, { file, rules, tests }: Tested, results: CaseResult[], missing: BoundaryCase[]) {
  const rows = results.map(({ case: item, outcome, decidedBy, ok }) => {
    const got = requirementText(outcome)
    const by = decidedBy.length > 0 ? ` (by ${decidedBy.join(', ')})` : ''
    return [
      terminal.paint(ok ? 'green' : 'red', ok ? 'ok' : 'FAILS'),
      caseName(item),
      ok ? `${got}${by}` : `expects ${requirementText(item.expect)}, the rules say ${got}${by}`,
    ]
  })
  for (const row of columns(rows)) terminal.line(row)
  const failed = results.filter(({ ok }) => !ok).length
  if (rows.length > 0) terminal.line()
  const of = `${count(rules.length, 'rule')} in ${file}`
  if (tests.length === 0) terminal.line(`No case stands beside the ${of}.`)
  else terminal.line(`${count(results.length, 'case')}, ${failed === 0 ? 'none fails' : `${failed} failed`}; ${of}.`)
  if (missing.length === 0) return
  terminal.line(`\n${count(missing.length, 'case')} at the edge of a condition nobody has written; below \`tests:\`:`)
  printCases(terminal, missing)
}

function printCases(terminal: Terminal, cases: readonly BoundaryCase[]): void {
  for (const item of cases) for (const line of itemLines(caseToJson(item), '  ')) terminal.line(line)
}

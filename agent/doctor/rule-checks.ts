/** What is in force, and what the rules read. */
import { refusalWords } from '#agent/commands/refusal-words.ts'
import { askDaemon } from '#agent/daemon-client.ts'
import { localTime, plain, span } from '#agent/terminal.ts'
import type { Check, Finding } from './finding.ts'

export const checkConfig: Check = ({ home, configProblems, status }) => {
  const [first] = configProblems
  if (!first) return []
  const source = status?.local.source
  const then =
    source === 'last-good'
      ? 'Its last good text stays in force; what you wrote since then is not.'
      : 'Until it is mended none of your own rules is in force, or only those of its last good text.'
  const more = configProblems.length > 1 ? ` (and ${configProblems.length - 1} more)` : ''
  return [
    {
      code: 'config_broken',
      severity: 'off',
      what: `${home.config}:${first.line}:${first.column}: ${first.rule ? `${first.rule}: ` : ''}${first.message}${more}.`,
      why: then,
      todo: `${first.remedy[0]?.toUpperCase()}${first.remedy.slice(1)}; \`holdpoint boundaries test\` reads the file again.`,
    },
  ]
}

/** What a person does about a document that was refused, by its code; the rest is for whoever runs the control plane. */
const REMEDIES: Readonly<Record<string, Pick<Finding, 'fix' | 'todo'>>> = {
  unreachable: { fix: 'holdpoint team sync', todo: 'Look at the network, and at a proxy that this machine needs.' },
  revoked: { fix: 'holdpoint leave', todo: 'Then join again with a new line from an admin.' },
  expired: { fix: 'holdpoint team sync', todo: 'Set this machine’s clock by the network.' },
  from_the_future: { fix: 'holdpoint team sync', todo: 'Set this machine’s clock by the network.' },
  disk: { fix: 'holdpoint team sync', todo: 'Look at the disk and at who may write there.' },
}
const TELL_THEM: Pick<Finding, 'fix' | 'todo'> = {
  todo: 'Tell an owner of your organisation: what the control plane sent is not what this machine may trust. `holdpoint team status` has the details.',
}

export const checkRules: Check = ({ status }) => {
  const rules = status?.team?.rules
  if (!rules) return []
  const findings: Finding[] = []
  const { lastError, stale, ageS } = rules
  if (lastError)
    findings.push({
      code: `rules_refused:${lastError.code}`,
      severity: 'off',
      what: `Since ${localTime(lastError.at)} the organisation’s rules do not come in: ${refusalWords(lastError.code)}.`,
      why: 'What was in force stays in force; changes, answers and requests may not arrive.',
      ...(Object.hasOwn(REMEDIES, lastError.code) ? REMEDIES[lastError.code] : TELL_THEM),
    })
  if (stale)
    findings.push({
      code: 'rules_stale',
      severity: 'off',
      what: `The organisation’s rules were confirmed ${ageS === undefined ? 'never' : `${span(ageS)} ago`}, which is too long.`,
      why: 'They hold, but nothing is released until the control plane is heard again.',
      fix: 'holdpoint team sync',
    })
  const { unsupported = [], unknownSections = [] } = rules as { unsupported?: string[]; unknownSections?: string[] }
  if (unsupported.length + unknownSections.length > 0)
    findings.push({
      code: 'connector_outdated',
      severity: 'off',
      what: `This version cannot read ${[...unsupported, ...unknownSections].map(name => plain(name, 80)).join(', ')} of the organisation’s rules.`,
      why: 'A rule that cannot be read holds or passes whole, by its on_unknown.',
      todo: 'Get the newer holdpoint.cjs from your organisation’s Machines page, run `node holdpoint.cjs install`, then `holdpoint daemon restart`.',
    })
  return findings
}

/** Models whose price is not known: they count at the dearest rate there is. */
export const checkPrices: Check = ({ status }) => {
  const sessions = (status?.sessions ?? []) as { unpriced?: string[] }[]
  const models = [...new Set(sessions.flatMap(({ unpriced = [] }) => unpriced))]
  if (models.length === 0) return []
  return [
    {
      code: 'model_unpriced',
      severity: 'note',
      what: `No price is known of ${models.map(model => plain(model, 80)).join(', ')}.`,
      why: 'Such a model counts at the dearest rate, so that a limit holds early and never late.',
      todo: 'An owner sets its price under rates: in the organisation’s text, or a newer version of this program knows it.',
    },
  ]
}

type Told = { problem?: { code: string; message: string; at: string } }

/** Budgets of the organisation that could not be asked for. */
export const checkBudgets: Check = async ({ home, status }) => {
  if (!status?.team) return []
  const { problem } = await askDaemon<Told>(home, 'GET', '/api/budgets')
  if (!problem) return []
  return [
    {
      code: 'budgets_unread',
      severity: 'off',
      what: `The organisation’s budgets could not be asked for (${localTime(problem.at)}): ${plain(problem.message, 200)}`,
      why: 'A rule on one lets calls through while its figure is unread, unless it says on_unknown: hold.',
      fix: 'holdpoint team sync',
    },
  ]
}

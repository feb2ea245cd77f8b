import { homedir } from 'node:os'
import { CommandFailure } from '#agent/commands/exit.ts'
import { OTHER_SECTIONS } from '#agent/daemon/rules.ts'
import { askDaemon, type DaemonStatus } from '#agent/daemon-client.ts'
import { type Home, readKeptText, readText } from '#agent/home.ts'
import { TrustStore } from '#agent/trust/store.ts'
import { readTeam } from '#agent/trust/team.ts'
import { mergeRules } from '#core/boundary/evaluate.ts'
import { readRules } from '#core/boundary/read-rules.ts'
import { chooseLocalDocument } from '#core/rules/last-good.ts'
import { checkClock, checkDaemon, checkProxyPort, checkSecondDaemon, checkSocket } from './daemon-checks.ts'
import type { Check, Examined, Finding } from './finding.ts'
import { checkDisk, checkJoin, checkModes, checkNode, checkPrograms } from './home-checks.ts'
import { checkHooks, checkStatusLine } from './hook-checks.ts'
import { checkBudgets, checkConfig, checkPrices, checkRules } from './rule-checks.ts'

/** In the order in which they are worth mending: the first may be the cause of the next. */
const CHECKS: readonly Check[] = [
  checkNode,
  checkDisk,
  checkModes,
  checkPrograms,
  checkDaemon,
  checkSecondDaemon,
  checkSocket,
  checkClock,
  checkHooks,
  checkConfig,
  checkJoin,
  checkRules,
  checkBudgets,
  checkStatusLine,
  checkProxyPort,
  checkPrices,
]

/** Looks at everything once. Changes nothing but a file that is written and taken away again. */
export async function examine(home: Home, version: string): Promise<{ examined: Examined; findings: Finding[] }> {
  const { status, refused } = await ask(home)
  const examined: Examined = {
    home,
    clientHome: { homeDir: homedir(), env: process.env },
    version,
    nodeVersion: process.version,
    now: Date.now(),
    status,
    refused,
    ...rulesOf(home),
  }
  return { examined, findings: await runChecks(examined) }
}

export async function runChecks(examined: Examined, checks: readonly Check[] = CHECKS): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const check of checks) {
    try {
      findings.push(...(await check(examined)))
    } catch (error) {
      findings.push({
        code: `not_checked:${check.name}`,
        severity: 'off',
        what: `One thing could not be looked at: ${(error as Error).message}`,
        why: 'Whether it is in order is not known.',
        todo: 'Mend what else is said here, and look again.',
      })
    }
  }
  return findings
}

async function ask(home: Home): Promise<Pick<Examined, 'status' | 'refused'>> {
  try {
    return { status: await askDaemon<DaemonStatus>(home, 'GET', '/api/status'), refused: undefined }
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error
    return { status: undefined, refused: { code: error.code, message: error.message } }
  }
}

function rulesOf(home: Home): Pick<Examined, 'rules' | 'configProblems'> {
  const text = readKeptText(home.config)
  const lastGoodText = readText(home.localGood)
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone
  const local = chooseLocalDocument({
    text,
    ...(lastGoodText === undefined ? {} : { lastGoodText }),
    options: { zone, other: OTHER_SECTIONS },
  })
  const team = readTeam(home)
  const set = team ? new TrustStore(home, team, Date.now, () => {}).rules() : undefined
  const organisation = set ? readRules(set.set.boundaries) : []
  return { rules: mergeRules({ local: local.rules, organisation }), configProblems: local.errors }
}

/** An owner's or admin's own credential on this machine (`team admin login`): twelve hours, kept apart from the machine's token. */

import { join } from 'node:path'
import { describeChain, judgeChain, readChain } from '#agent/guard/ancestry.ts'
import { agentMark, GuardRefused } from '#agent/guard/person.ts'
import { seenAgents } from '#agent/guard/seen-agents.ts'
import { type Home, readJson, remove, writeJson } from '#agent/home.ts'
import { plain } from '#agent/terminal.ts'
import { readTeam } from '#agent/trust/team.ts'
import { mayCarrySecrets } from '#core/loopback.ts'
import { tokenKind } from '#core/token.ts'
import type { Flags, Option } from './command.ts'
import { CommandFailure } from './exit.ts'

export type AdminSession = {
  origin: string
  org: { slug: string; name?: string }
  member?: { id?: string; name: string }
  token: string
  expiresAt?: string
  /** The document that `boundaries --get` read last: what the next `--set` is an edit of. */
  lastRead?: { etag: string; version: number; text: string }
}

export const TOKEN_VARIABLE = 'HOLDPOINT_TEAM_ADMIN_TOKEN'

export const AT: Record<string, Option> = {
  at: {
    type: 'string',
    value: 'ORIGIN',
    help: 'the control plane’s address (default: the one this machine has joined)',
  },
  org: {
    type: 'string',
    value: 'SLUG',
    help: 'the organisation’s short name (default: the one this machine has joined)',
  },
}

const file = (home: Home) => join(home.root, 'team-admin.json')

export const keepSession = (home: Home, session: AdminSession): void => writeJson(home, file(home), session)
export const forgetSession = (home: Home): boolean => remove(file(home))

/** The control plane that a command speaks to. @throws CommandFailure */
export function planeOf(home: Home, flags: Flags): { origin: string; slug: string } {
  const team = readTeam(home)
  const at = typeof flags.at === 'string' ? flags.at : team?.origin
  const slug = typeof flags.org === 'string' ? flags.org : team?.org.slug
  if (at === undefined || slug === undefined) {
    throw new CommandFailure(
      'missing',
      'which_organisation',
      'This machine has joined no organisation, so say which one is meant.',
      'Give --at https://holdpoint.example.com and --org acme.',
    )
  }
  if (!URL.canParse(at)) throw new CommandFailure('usage', 'bad_origin', `\`${plain(at, 80)}\` is no address.`)
  const url = new URL(at)
  if (!mayCarrySecrets(url))
    throw new CommandFailure(
      'usage',
      'bad_origin',
      'The address must be https (http on this machine’s own loopback only).',
    )
  return { origin: url.origin, slug }
}

/** The credential in use: the environment's, else the one that was signed in here. @throws CommandFailure */
export function readSession(
  home: Home,
  flags: Flags,
  env: Readonly<Record<string, string | undefined>> = process.env,
): AdminSession {
  const given = env[TOKEN_VARIABLE]
  if (given) {
    if (tokenKind(given.trim()) !== 'admin')
      throw new CommandFailure(
        'usage',
        'not_an_admin_token',
        `${TOKEN_VARIABLE} does not hold an admin credential (hpa_…).`,
      )
    const { origin, slug } = planeOf(home, flags)
    return { origin, org: { slug }, token: given.trim() }
  }
  const kept = readJson<AdminSession>(file(home))
  const over = kept?.expiresAt !== undefined && Date.parse(kept.expiresAt) <= Date.now()
  if (!kept || over) {
    throw new CommandFailure(
      'missing',
      over ? 'admin_expired' : 'not_signed_in',
      over ? 'The admin sign-in on this machine has ended.' : 'You are not signed in as an admin on this machine.',
      'Sign in with `holdpoint team admin login`.',
    )
  }
  return kept
}

/**
 * Refuses an agent that would use an admin's credential. Unlike for `approve` no terminal is asked for: scripts of a person's
 * own may publish. The control plane in turn refuses one's own requests, whoever asks.
 * @throws GuardRefused
 */
export function refuseAgents(home: Home): void {
  const mark = agentMark(process.env)
  if (mark) throw new GuardRefused('agent_environment', `${mark} is set, so an agent runs this command.`)
  const chain = readChain(process.pid)
  const judged = judgeChain(chain, seenAgents(home.root))
  if (!judged.ok && judged.code !== 'no_terminal')
    throw new GuardRefused(
      'agent_ancestor',
      `An agent’s credential is a person’s to use: ${judged.words} (${describeChain(chain).join(' < ')}).`,
    )
}

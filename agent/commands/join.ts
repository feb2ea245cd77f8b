import { hostname } from 'node:os'
import { createInterface } from 'node:readline/promises'
import { crypto, makeKey, type PrivateKey, publicPart, random, signJws } from '#agent/crypto.ts'
import { waitForDaemonToKnow } from '#agent/daemon-client.ts'
import { type Home, readBytes, remove, writeAtomic, writeJson } from '#agent/home.ts'
import { plain, type Terminal } from '#agent/terminal.ts'
import { writePin } from '#agent/trust/pin.ts'
import { TrustStore } from '#agent/trust/store.ts'
import { forgetTeam, readTeam, type Team } from '#agent/trust/team.ts'
import { base64url, utf8 } from '#core/bytes.ts'
import { isAppError } from '#core/error.ts'
import { MACHINE_LABEL, MACHINE_LABEL_WORDS } from '#core/id.ts'
import { parseJoinLine, readPasted } from '#core/join-line.ts'
import { RULE_SET_MAX } from '#core/limits.ts'
import { FRESH_HEADER, JoinAnswer } from '#core/protocol.ts'
import { type TrustedRoot, walkRoots } from '#core/root.ts'
import type { Command } from './command.ts'
import { askPlane, askPlaneJson } from './control-plane.ts'
import { CommandFailure, cannotWrite, EXIT } from './exit.ts'
import { VERSION } from './version.ts'

export type Joined = {
  origin: string
  org: Team['org']
  member: Team['member']
  machine: string
  label: string
  rootSeq: number
  rootDigest: string
  custody: 'server' | 'owners'
  pin: 'digest' | 'first use'
  /** 0 while the organisation has published nothing. */
  rulesVersion: number
}

export const join: Command = {
  name: 'join',
  summary: 'join an organisation: pin its keys and obey its signed rules',
  takes: '[LINE]',
  args: [0, 1],
  options: {
    label: { type: 'string', value: 'NAME', help: 'how admins see this machine (default: its host name)' },
    backfill: { type: 'boolean', help: 'send the usage from before joining, too, as far as it is on record' },
    'trust-on-first-use': { type: 'boolean', help: 'accept a line without a root digest; the machine is marked so' },
  },
  about:
    'Takes the line that the Machines page of your organisation shows, or the address in it alone. It works once, for fifteen minutes, for one member. ' +
    'Without LINE it is asked for, or read from standard input, and so stays out of the list of processes. ' +
    'The line’s root digest (r=…) is compared with the keys that the control plane sends before anything of it is believed; the rules are fetched and checked once before this says “joined”.\n' +
    'A digest that came on the control plane’s own page protects against others, not against that control plane: only one from another channel (a colleague, a hand-out) does.',
  examples: [
    ['holdpoint join', 'asks for the line'],
    ["holdpoint join 'https://holdpoint.example.com/o/acme#e=hpj_…&r=…'", 'all in one'],
    ['holdpoint join --label build-1', 'under a name of its own, asking for the line'],
    ['holdpoint join < line.txt', 'from a file'],
  ],
  async run({ args, flags, home, json, terminal }) {
    const line = args[0] ?? (await readLine())
    const label = typeof flags.label === 'string' ? flags.label : undefined
    const joined = await joinTeam(home, line, {
      firstUse: flags['trust-on-first-use'] === true,
      backfill: flags.backfill === true,
      ...(label ? { label } : {}),
    })
    if (json) terminal.json(joined)
    else printJoined(terminal, joined)
    return EXIT.ok
  },
}

/** Asks for the line, or takes it from standard input, where no list of processes shows it. */
export async function readLine(): Promise<string> {
  if (process.stdin.isTTY) {
    const asked = createInterface({ input: process.stdin, output: process.stderr })
    try {
      return (await asked.question('The join line of the Machines page: ')).trim()
    } finally {
      asked.close()
    }
  }
  let text = ''
  for await (const chunk of process.stdin) {
    text += String(chunk)
    if (text.length > 8192) break
  }
  return text.trim().split(/\r?\n/)[0] ?? ''
}

/**
 * Joins: sends the machine's new key with a proof of possession, walks the root documents against the line's
 * digest, fetches the rules once, and only then writes team.json, which is what makes a machine joined.
 * @throws CommandFailure; nothing that was not joined stays behind
 */
export async function joinTeam(
  home: Home,
  line: string,
  { firstUse, backfill, label: given }: { firstUse: boolean; backfill?: boolean; label?: string },
): Promise<Joined> {
  const { address, label: pasted } = readPasted(line)
  const label = given ?? pasted ?? defaultLabel()
  const at = parseJoinLine(address)
  if (!at) throw badLine(address)
  const already = readTeam(home)
  if (already) {
    throw new CommandFailure(
      'failed',
      'already_joined',
      `This machine has joined ${plain(already.org.name)} already.`,
      'Leave it first: `holdpoint leave`.',
    )
  }
  if (at.rootDigest === undefined && !firstUse) {
    throw new CommandFailure(
      'failed',
      'no_root_digest',
      'The line carries no root digest (r=…), so nothing tells whose keys are the right ones.',
      'Ask for the whole line. If there is none, --trust-on-first-use believes whatever answers first, and the machine is marked so.',
    )
  }
  if (!MACHINE_LABEL.test(label))
    throw new CommandFailure('usage', 'label', `\`${plain(label, 80)}\` is no label: it has ${MACHINE_LABEL_WORDS}.`)
  const key = makeKey()
  keepKey(home, key)
  const answer = await askToJoin(at.origin, joinBody(at, label, key)).catch((error: unknown) => {
    remove(home.machineKey)
    throw error
  })
  const team: Team = {
    origin: at.origin,
    org: answer.org,
    machine: answer.machine,
    member: answer.member,
    token: answer.token,
    firstUse: at.rootDigest === undefined,
    joinedAt: new Date().toISOString(),
    ...(backfill === true ? { backfill } : {}),
  }
  try {
    if (team.org.slug !== at.slug)
      throw new CommandFailure(
        'failed',
        'other_organisation',
        `The line names ${at.slug}, the control plane answered as ${plain(team.org.slug)}.`,
      )
    const chain = walkRoots(answer.roots, team.org.id, crypto, at.rootDigest)
    const root = chain.at(-1)!
    writeTrust(home, chain)
    const rulesVersion = await fetchRulesOnce(home, team)
    if (!readBytes(home.secret)) writeAtomic(home, home.secret, random(32))
    writeJson(home, home.team, { ...team, label, root: { seq: root.root.seq, digest: root.digest } })
    await waitForDaemonToKnow(home, team.machine, rulesVersion)
    return {
      origin: team.origin,
      org: team.org,
      member: team.member,
      machine: team.machine,
      label,
      rootSeq: root.root.seq,
      rootDigest: root.digest,
      custody: root.root.custody,
      pin: team.firstUse ? 'first use' : 'digest',
      rulesVersion,
    }
  } catch (error) {
    forgetTeam(home)
    const left = await askPlane(team.origin, {
      method: 'DELETE',
      path: 'machine',
      token: team.token,
      timeoutMs: 5000,
    }).then(
      () => true,
      () => false,
    )
    throw joinFailed(error, left)
  }
}

/** The key is on the disk before the line is spent: a disk that takes nothing costs no line. @throws CommandFailure */
function keepKey(home: Home, key: PrivateKey): void {
  try {
    writeJson(home, home.machineKey, key)
  } catch (error) {
    throw new CommandFailure(
      'failed',
      (error as NodeJS.ErrnoException).code ?? 'internal',
      `Not joined. ${cannotWrite(error, home.root)}`,
      'Nothing was sent: the line is as good as before.',
    )
  }
}

function joinBody(at: { token: string; rootDigest?: string | undefined }, label: string, key: PrivateKey) {
  const proof = signJws('holdpoint-join+jws', key, { v: 1, token: base64url(crypto.sha256(utf8(at.token))) })
  return {
    token: at.token,
    key: publicPart(key),
    label,
    platform: platform(),
    connector: VERSION,
    proof,
    pinned: at.rootDigest !== undefined,
  }
}

async function askToJoin(origin: string, body: ReturnType<typeof joinBody>): Promise<JoinAnswer> {
  const read = JoinAnswer.safeParse(await askPlaneJson(origin, { method: 'POST', path: 'join', body }))
  if (read.success) return read.data
  throw new CommandFailure(
    'failed',
    'odd_answer',
    `${origin} does not answer a join as a control plane of this version does.`,
  )
}

function badLine(line: string): CommandFailure {
  const plainHttp = /^http:\/\//i.test(line.trim())
  return new CommandFailure(
    'usage',
    'bad_join_line',
    plainHttp
      ? 'The line is not an https address (http is taken on this machine’s own loopback only).'
      : line.trim() === ''
        ? 'No join line was given.'
        : 'This is not a join line.',
    'It looks like https://holdpoint.example.com/o/acme#e=hpj_…&r=… and stands on the Machines page. Quote it: the shell reads # and & itself.',
  )
}

function joinFailed(error: unknown, left: boolean): CommandFailure {
  const after = left
    ? 'Nothing was kept here, and the control plane was told. Ask for a new line.'
    : 'Nothing was kept here. The control plane could not be told: an admin may revoke the machine there. Ask for a new line.'
  if (error instanceof CommandFailure)
    return new CommandFailure(
      error.exit === EXIT.unreachable ? 'unreachable' : 'failed',
      error.code,
      `Not joined. ${error.message}`,
      after,
    )
  const cause = error instanceof Error && isAppError(error.cause) ? error.cause : error
  const why = isAppError(cause) && typeof cause.details?.why === 'string' ? cause.details.why : undefined
  const more =
    why === 'not_the_pinned_root'
      ? ' Whoever answers is not whom the line was made for, or the line was changed on its way: tell an admin.'
      : why === 'expired' || why === 'from_the_future'
        ? ` Here it is ${new Date().toISOString()}: compare it with the time elsewhere and set the clock right.`
        : ''
  return new CommandFailure(
    'failed',
    why ?? 'not_trusted',
    `Not joined. ${error instanceof Error ? plain(error.message) : 'The answer cannot be trusted.'}${more}`,
    after,
  )
}

function writeTrust(home: Home, chain: TrustedRoot[]): void {
  const root = chain.at(-1)!
  for (const file of [home.ruleset, home.nextRuleset, home.fresh, home.equivocation]) remove(file)
  writeJson(
    home,
    home.roots,
    chain.map(trusted => trusted.envelope),
  )
  writePin(home, { version: 0, rootSeq: root.root.seq, rootDigest: root.digest, clockHigh: Date.now() })
}

/** The first fetch belongs to joining (a machine without rules would run unruled until the first poll): version, or 0. */
async function fetchRulesOnce(home: Home, team: Team): Promise<number> {
  const { status, text, headers } = await askPlane(team.origin, { method: 'GET', path: 'rules', token: team.token })
  const fresh = headers.get(FRESH_HEADER)
  if (!fresh)
    throw new CommandFailure(
      'failed',
      'no_freshness',
      'The control plane sent rules without the signed time that says how old they are.',
    )
  if (text.length > RULE_SET_MAX)
    throw new CommandFailure('failed', 'too_large', 'The rule set is larger than one may be.')
  const store = new TrustStore(home, team, Date.now, error => {
    throw error
  })
  store.take({ fresh, ...(status === 200 ? { rules: text } : {}) })
  return store.version
}

const defaultLabel = () =>
  hostname()
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 63) || 'machine'
const platform = () =>
  ['linux', 'darwin', 'win32'].includes(process.platform) ? (process.platform as 'linux' | 'darwin' | 'win32') : 'other'

/** Says plainly what was pinned, and through which channel it was checked. */
export function printJoined(terminal: Terminal, joined: Joined): void {
  terminal.line(
    `${terminal.paint('green', 'Joined')} ${plain(joined.org.name)} at ${joined.origin} as ${plain(joined.member.name)} (machine “${joined.label}”).`,
  )
  terminal.line()
  terminal.line(`Pinned here: root document ${joined.rootSeq}, digest ${joined.rootDigest}`)
  terminal.line(
    joined.pin === 'digest'
      ? '  checked against the digest in the join line. If the line came from the control plane’s own page, this\n  rules out others in between, not that control plane; compare the digest with a colleague’s to rule out that too.'
      : '  NOT checked against anything (--trust-on-first-use): whoever answered first is believed from now on.\n  The machine is marked so on the Machines page.',
  )
  if (joined.custody === 'server')
    terminal.line('  The control plane holds the keys itself: what they sign is attested by the control plane.')
  terminal.line(
    joined.rulesVersion > 0
      ? `Rules in force: version ${joined.rulesVersion}, signature checked.`
      : 'Rules in force: none; the organisation has published nothing yet.',
  )
  terminal.line()
  terminal.line(
    'Next: `holdpoint hooks install` wires your agent programs, `holdpoint daemon start` keeps the rules current.',
  )
}

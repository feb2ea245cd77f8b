import { spawn } from 'node:child_process'
import { askDaemon, askForText, type DaemonStatus } from '#agent/daemon-client.ts'
import type { Home } from '#agent/home.ts'
import { columns, localTime, plain, span } from '#agent/terminal.ts'
import { readPin } from '#agent/trust/pin.ts'
import { TrustStore } from '#agent/trust/store.ts'
import { readTeam, type Team } from '#agent/trust/team.ts'
import type { UsageStatus } from '#agent/usage/usage.ts'
import { ageMs, mayRelease } from '#core/fresh.ts'
import { canonicalJson } from '#core/json.ts'
import { REVOKED, revokedFailure } from './code-words.ts'
import type { Command } from './command.ts'
import { askPlaneJson, PlaneRefusal } from './control-plane.ts'
import { statusOrNothing } from './daemon.ts'
import { CommandFailure, EXIT } from './exit.ts'
import { notJoined } from './leave.ts'
import { DOCUMENT_WORDS, refusalWords } from './refusal-words.ts'
import { sentWords, usageWords } from './usage-words.ts'

type TeamState = NonNullable<DaemonStatus['team']> & { daemon: boolean; usage?: UsageStatus }

export const teamStatus: Command = {
  name: 'team status',
  summary: 'which signed rules are in force here, how old, and what was refused',
  about:
    'Shows whom this machine has joined, the version and digest of the rules in force, how old the newest signed word of the control plane is, what is pinned, and why the last document was refused, if one was.',
  examples: [
    ['holdpoint team status', 'compare the digest with a colleague’s'],
    ['holdpoint team status --json', 'for a monitor'],
  ],
  async run({ home, json, terminal }) {
    const team = readTeam(home)
    if (!team) throw notJoined()
    const state = await teamState(home, team)
    const pin = readPin(home)
    if (json) {
      terminal.json({
        ...state,
        origin: team.origin,
        joinedAt: team.joinedAt,
        ...(team.label ? { label: team.label } : {}),
        ...(pin ? { rootDigest: pin.rootDigest } : {}),
      })
      return EXIT.ok
    }
    const { rules } = state
    const age =
      rules.ageS === undefined
        ? 'never heard'
        : `${span(rules.ageS)} old${rules.freshAt ? ` (${localTime(rules.freshAt)})` : ''}`
    const rows: string[][] = [
      ['organisation', `${plain(team.org.name)} (${team.org.slug}) at ${team.origin}`],
      ['member', plain(team.member.name)],
      [
        'machine',
        `${team.label ? `${plain(team.label, 63)}, ` : ''}${team.machine}, joined ${localTime(team.joinedAt)}`,
      ],
      [
        'rules',
        rules.version === 0 ? 'none published yet' : `version ${rules.version}, digest ${rules.digest ?? 'unknown'}`,
      ],
      [
        'age',
        `${age}${rules.stale ? ` ${terminal.paint('red', '— too old: rules hold, but nothing is released until the control plane is heard again')}` : ''}`,
      ],
      ['pinned', `root document ${rules.rootSeq}${pin ? `, digest ${pin.rootDigest}` : ''}`],
      ...pinWords(state, team, rules.rootSeq).map(([text, warns]) => [
        '',
        warns ? terminal.paint('yellow', text) : text,
      ]),
    ]
    if (rules.lastError?.code === 'revoked')
      rows.push(['revoked', terminal.paint('red', `${REVOKED} The rules here hold, and nothing is released.`)])
    else if (rules.lastError)
      rows.push([
        'refused',
        `${localTime(rules.lastError.at)}: ${refusalWords(rules.lastError.code)}. What was in force before stays.`,
      ])
    for (const [i, [label, text, warns]] of (state.usage ? usageWords(state.usage) : []).entries())
      rows.push([i === 0 ? label : '', warns ? terminal.paint('yellow', text) : text])
    for (const line of columns(rows)) terminal.line(line)
    if (!state.daemon)
      terminal.line(
        'The daemon is not running: this is what lies on disk, and nothing newer is fetched. Start it with `holdpoint daemon start`.',
      )
    return EXIT.ok
  },
}

/** What the pinned root document rests on: what was compared at join, and the keys that signed each one since. */
function pinWords({ pin }: TeamState, { root }: Team, seq: number): [text: string, warns: boolean][] {
  const first: [string, boolean] =
    pin === 'digest'
      ? ['checked against the digest of the join line', false]
      : ['trusted on first use: nothing was compared when this machine joined', true]
  if (root ? root.seq === seq : seq <= 1) return [first]
  const joined = root ? `root document ${root.seq}, digest ${root.digest}` : 'the root document at the time of joining'
  return [
    [
      `its keys were rotated since this machine joined; each new document is signed by the keys of the one before`,
      false,
    ],
    [`joined with ${joined}: ${first[0]}`, first[1]],
  ]
}

/** From the daemon; when it is down, from the disk, every signature checked again. */
async function teamState(home: Home, team: Team): Promise<TeamState> {
  const status = await statusOrNothing(home)
  if (status?.team) return { ...status.team, daemon: true, ...(status.usage ? { usage: status.usage } : {}) }
  const store = new TrustStore(home, team, Date.now, () => {})
  const set = store.rules()
  const fresh = store.freshAtMs === undefined ? undefined : { at: new Date(store.freshAtMs).toISOString() }
  const age = ageMs(fresh, Date.now())
  return {
    daemon: false,
    org: team.org,
    machine: team.machine,
    member: team.member,
    pin: team.firstUse ? 'first use' : 'digest',
    rules: {
      version: store.version,
      ...(set ? { digest: set.digest } : {}),
      rootSeq: store.root?.root.seq ?? 0,
      ...(fresh ? { freshAt: fresh.at } : {}),
      ...(age === undefined ? {} : { ageS: Math.round(age / 1000) }),
      stale: set !== undefined && !mayRelease(fresh, set.set.maxAge, Date.now()),
      ...(store.trouble ? { lastError: store.trouble } : {}),
    },
  }
}

export const teamSync: Command = {
  name: 'team sync',
  summary: 'fetch rules and answers, and send the report and usage now',
  about:
    'Does at once what the daemon does by itself every few minutes: fetches rules and answers, and sends the report and the usage that the organisation does not have yet.',
  examples: [['holdpoint team sync', 'after a publish that you do not want to wait for']],
  async run({ home, json, terminal }) {
    if (!readTeam(home)) throw notJoined()
    await sync(home)
    const { team, usage } = await askDaemon<DaemonStatus>(home, 'GET', '/api/status')
    const failed = team?.rules.lastError
    if (failed?.code === 'revoked') throw revokedFailure()
    if (json) terminal.json({ rules: team?.rules, usage: usage?.upload })
    else if (failed) terminal.line(`Not up to date: ${refusalWords(failed.code)}. What was in force before stays.`)
    else
      terminal.line(
        team && team.rules.version > 0
          ? `Up to date: rules version ${team.rules.version}.`
          : 'Up to date: no rules are published yet.',
      )
    if (!json && usage) for (const [, text] of sentWords(usage)) terminal.line(`Usage: ${text}.`)
    if (!failed) return EXIT.ok
    return failed.code === 'unreachable' ? EXIT.unreachable : EXIT.failed
  },
}

/** @throws CommandFailure in words, with the exit code that says whether trying again may help */
async function sync(home: Home): Promise<void> {
  try {
    await askDaemon(home, 'POST', '/api/sync', {}, 180_000)
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error
    const { code } = error
    if (code === 'NOT_SIGNED_IN') throw revokedFailure()
    if (code === 'unreachable')
      throw new CommandFailure(
        'unreachable',
        code,
        `Not synchronised. ${error.message}`,
        'What is in force here stays in force; the daemon tries again by itself.',
      )
    if (!Object.hasOwn(DOCUMENT_WORDS, code)) throw error
    throw new CommandFailure(
      'failed',
      code,
      `Not up to date: what the control plane sent was refused, because ${refusalWords(code)}.`,
      'What was in force before stays. `holdpoint team status` shows it.',
    )
  }
}

export const teamWeb: Command = {
  name: 'team web',
  summary: 'open the web app through a look-only sign-in link',
  options: { 'no-open': { type: 'boolean', help: 'print the link only' } },
  about:
    'Makes a link that signs in as this machine’s member to look, and to withdraw own requests. It answers nothing and changes nothing: for that, sign in with your own account. The link works once and for ten minutes.',
  examples: [['holdpoint team web --no-open', 'print it']],
  async run({ flags, home, json, terminal }) {
    const team = readTeam(home)
    if (!team) throw notJoined()
    const link = await askPlaneJson<{ url: string; expiresAt: string }>(team.origin, {
      method: 'POST',
      path: 'sign-in-links',
      token: team.token,
      body: {},
    }).catch((error: unknown) => {
      throw error instanceof PlaneRefusal && error.status === 401 ? revokedFailure() : error
    })
    const url = plain(link.url)
    if (json) terminal.json({ url, expiresAt: link.expiresAt, lookOnly: true })
    else {
      terminal.line(url)
      terminal.line(
        `Look-only: it answers no request and changes nothing. Works once, until ${localTime(link.expiresAt)}.`,
      )
    }
    // only an address of the control plane that was joined is handed to a browser
    if (
      !json &&
      flags['no-open'] !== true &&
      process.stdout.isTTY &&
      URL.canParse(url) &&
      new URL(url).origin === team.origin
    )
      openBrowser(url)
    return EXIT.ok
  },
}

function openBrowser(url: string): void {
  const opener = process.platform === 'darwin' ? 'open' : process.platform === 'win32' ? 'explorer.exe' : 'xdg-open'
  spawn(opener, [url], { detached: true, stdio: 'ignore' })
    .on('error', () => {})
    .unref()
}

export const teamPreview: Command = {
  name: 'team preview',
  summary: 'print the exact bytes of the next report and upload of usage, without sending them',
  takes: '[report|usage]',
  args: [0, 1],
  about:
    'Prints what this machine would send to the organisation now, byte for byte before it is signed: numbers and names from fixed lists, ids of models, and tags that the organisation lists. First the report, then, on a line of its own, the next upload of usage where one is due; name one of them for its bytes alone. Nothing is sent; the upload that was shown is the one that is sent next.',
  examples: [
    ['holdpoint team preview', 'read it'],
    ['holdpoint team preview --json', 'the same, indented'],
    ['holdpoint team preview usage | sha256sum', 'the bytes are exact'],
  ],
  async run({ args, home, json, terminal }) {
    if (!readTeam(home)) throw notJoined()
    const [what] = args
    if (what !== undefined && what !== 'report' && what !== 'usage')
      throw new CommandFailure('usage', 'usage', `\`${plain(what, 40)}\` is neither \`report\` nor \`usage\`.`)
    const report = what === 'usage' ? undefined : canonicalJson(await askDaemon(home, 'GET', '/api/preview'))
    const usage = what === 'report' ? '' : await askForText(home, 'POST', '/api/usage/preview', {}, 120_000)
    if (json) {
      const parsed = usage === '' ? null : JSON.parse(usage)
      terminal.json({
        ...(report === undefined ? {} : { report: JSON.parse(report) }),
        ...(what === 'report' ? {} : { usage: parsed }),
      })
      return EXIT.ok
    }
    terminal.bytes([report, usage].filter(Boolean).join('\n'))
    if (what === 'usage' && usage === '') terminal.note('No usage is due: the organisation has all of it.')
    return EXIT.ok
  },
}

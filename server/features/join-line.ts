import { AppError } from '#core/error.ts'
import { MACHINE_LABEL, MACHINE_LABEL_WORDS } from '#core/id.ts'
import { formatJoinLine } from '#core/join-line.ts'
import { JOIN_TOKEN_MS } from '#core/limits.ts'
import { mayCarrySecrets } from '#core/loopback.ts'
import { demand } from '#core/permission.ts'
import { makeToken } from '#core/token.ts'
import { hashToken } from '../keys/token-hash.ts'
import { connectorBundle } from './connector-bundle.ts'
import { type FeatureContext, newId, notFound } from './context.ts'
import { recordEvidence } from './evidence.ts'
import { allowAttempt } from './rate.ts'

/** What the Machines page shows. `line` is for a POSIX shell, `powershell` for Windows; both undefined while no connector is built. */
export type JoinLine = {
  line: string | undefined
  powershell: string | undefined
  /** The join line alone, for a connector that is installed already (`holdpoint join <url>`). */
  url: string
  download: string | undefined
  sha256: string | undefined
  expiresAt: Date
  rootDigest: string
  member: { id: string; name: string }
  /** The name that the machine joins under; its host name when undefined. */
  label: string | undefined
  steps: string[]
  /** Why there is no line to paste, in words. */
  problem: string | undefined
}

const LINES_PER_HOUR = 30

/**
 * Makes a one-time join token for one member and the line that uses it. The line carries the newest root's digest,
 * so that the machine's first fetch is checked; whoever shows the line is the control plane itself, and the steps say so.
 */
export async function makeJoinLine(
  ctx: FeatureContext,
  input: { memberId?: string; label?: string },
): Promise<JoinLine> {
  demand(ctx.actor, 'machine.add')
  const { label } = input
  if (label !== undefined && !MACHINE_LABEL.test(label))
    throw new AppError('BAD_INPUT', `A machine's name has ${MACHINE_LABEL_WORDS}.`)
  const memberId = input.memberId ?? ctx.actor.memberId
  if (memberId !== ctx.actor.memberId) demand(ctx.actor, 'machine.add_for_others')
  const { orgId, orgSlug } = ctx.actor
  const origin = checkedOrigin(ctx.origin)
  await allowAttempt(ctx, `join-line:${ctx.actor.memberId}`, {
    most: LINES_PER_HOUR,
    windowMs: 3600_000,
    message: 'You have made many join lines in the last hour.',
  })
  const token = makeToken('join', ctx.random(32))
  const expiresAt = new Date(ctx.now.getTime() + JOIN_TOKEN_MS)
  const { member, rootDigest } = await ctx.db.$transaction(async tx => {
    const found = await tx.member.findFirst({
      where: { id: memberId, orgId, removedAt: null },
      select: { id: true, name: true },
    })
    if (!found) throw notFound('member')
    const root = await tx.rootDocument.findFirstOrThrow({
      where: { orgId },
      orderBy: { seq: 'desc' },
      select: { digest: true },
    })
    await tx.token.create({
      data: {
        id: newId(ctx, 'credential'),
        kind: 'join',
        hash: hashToken(token),
        orgId,
        memberId,
        createdAt: ctx.now,
        expiresAt,
      },
    })
    await recordEvidence(tx, ctx, {
      kind: 'machine.join_line_made',
      subject: { kind: 'member', id: memberId },
      data: { expiresAt: expiresAt.toISOString() },
    })
    return { member: found, rootDigest: root.digest }
  })
  const url = formatJoinLine({ origin, slug: orgSlug, token, rootDigest })
  const bundle = await connectorBundle()
  const download = bundle && `${origin}/connector/${bundle.sha256}/holdpoint.cjs`
  return {
    line: bundle && download ? posixLine(download, bundle.sha256, url, label) : undefined,
    powershell: bundle && download ? powershellLine(download, bundle.sha256, url, label) : undefined,
    url,
    download,
    sha256: bundle?.sha256,
    expiresAt,
    rootDigest,
    member,
    label,
    steps: [
      `On ${member.name}'s machine, in a terminal of theirs, paste the line. It works once, for fifteen minutes.`,
      'It downloads the connector from here, checks its SHA-256, installs it below ~/.holdpoint and joins. Node 20.19 or newer must be there.',
      'Then run holdpoint hooks install and holdpoint daemon, as it says.',
      `Compare the digest ${rootDigest} with one you have from somewhere else than this page if you must not trust this server.`,
    ],
    problem: bundle
      ? undefined
      : 'The connector is not built on this server, so there is nothing to download: run npm run build. A connector that is installed already can join with the address.',
  }
}

/** Only https, or http to this machine: a token must not cross a network in the clear. */
function checkedOrigin(origin: string): string {
  const url = new URL(origin)
  if (mayCarrySecrets(url)) return url.origin
  throw new AppError('CONFLICT', 'This server is reached over plain http, and machines join over https only.', {
    remedy: 'Put it behind https and set HOLDPOINT_PUBLIC_URL to that address.',
  })
}

const MISMATCH = 'The download does not have the promised SHA-256. Nothing was installed.'

/** Its letters need no quotes in any shell. */
const labelOption = (label: string | undefined) => (label === undefined ? '' : ` --label ${label}`)

/**
 * One line for any POSIX shell, whatever the login shell is. Nothing in it needs escaping: hexadecimal, base64url, an origin.
 * The one-time address goes by the environment and standard input, which the other users of a machine cannot see: the list of
 * processes, which they can, would show it while the download lasts, and the first to use it is the machine.
 */
export function posixLine(download: string, sha256: string, url: string, label?: string): string {
  const check =
    'if command -v sha256sum >/dev/null; then sha256sum -c - >/dev/null; else shasum -a 256 -c - >/dev/null; fi'
  return (
    `HOLDPOINT_LINE='${url}' ` +
    `sh -c 'd=$(mktemp -d) && trap "rm -rf \\"$d\\"" EXIT && f=$d/holdpoint.cjs && curl -fsSL "${download}" -o "$f" && ` +
    `{ printf "%s  %s\\n" ${sha256} "$f" | ${check} || { echo "${MISMATCH}" >&2; exit 1; }; } && ` +
    `printf "%s\\n" "$HOLDPOINT_LINE" | node "$f" install --join -${labelOption(label)}'`
  )
}

function powershellLine(download: string, sha256: string, url: string, label?: string): string {
  return (
    `& { $ErrorActionPreference = 'Stop'; $d = Join-Path ([IO.Path]::GetTempPath()) ([guid]::NewGuid()); New-Item -ItemType Directory $d | Out-Null; ` +
    `try { $f = Join-Path $d 'holdpoint.cjs'; Invoke-WebRequest -UseBasicParsing '${download}' -OutFile $f; ` +
    `if ((Get-FileHash $f -Algorithm SHA256).Hash -ne '${sha256}') { throw '${MISMATCH}' }; ` +
    `node $f install --join '${url}'${labelOption(label)} } finally { Remove-Item -Recurse -Force $d } }`
  )
}

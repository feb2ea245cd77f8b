import { listed, REPORTED_REFUSALS, type Report } from '#core/protocol.ts'
import type { Machine } from '#generated/prisma/client.ts'
import type { Tx } from '../../db.ts'
import type { Happening } from '../evidence.ts'
import type { Taken } from './taken.ts'

/** What the machine has in force, beside what was published: one version with two digests, an unknown root and refusals are told once each. */
export async function takeRules(tx: Tx, machine: Machine, report: Report): Promise<Taken> {
  const { version, digest, rootSeq, rootDigest, freshAt, unsupported } = report.rules
  const told = report.rules.lastError
  const lastError = told && { ...told, code: listed(REPORTED_REFUSALS, told.code) }
  const happened: Happening[] = []
  const alarms: NonNullable<Taken['alarms']> = []
  const subject = { kind: 'machine', id: machine.id } as const
  const moved = version !== machine.rulesVersion || (digest ?? null) !== machine.rulesDigest
  if (version > 0 && digest !== undefined && moved) {
    const other = await otherDigest(tx, machine, version, digest)
    if (other) {
      happened.push({
        kind: 'ruleset.equivocation',
        subject,
        data: { document: 'ruleset', version, reportedDigest: digest, otherDigest: other },
      })
      alarms.push({ what: 'ruleset_equivocation', at: report.at, count: 1 })
    }
  }
  // What was proven has raised the organisation's mark before this is read.
  if (moved && version > (await highestKnown(tx, machine.orgId)))
    alarms.push({ what: 'version_unproven', at: report.at, count: 1 })
  // 0: it has none yet.
  if (rootSeq > 0 && (rootSeq !== machine.rootSeq || rootDigest !== machine.rootDigest)) {
    const known = await tx.rootDocument.findUnique({
      where: { orgId_seq: { orgId: machine.orgId, seq: rootSeq } },
      select: { digest: true },
    })
    if (known?.digest !== rootDigest) {
      happened.push({
        kind: 'ruleset.equivocation',
        subject,
        data: {
          document: 'root',
          seq: rootSeq,
          reportedDigest: rootDigest,
          ...(known ? { otherDigest: known.digest } : {}),
        },
      })
      alarms.push({ what: 'root_unknown', at: report.at, count: 1 })
    }
  }
  // That the control plane could not be reached is the network's doing, not a refusal.
  if (lastError && lastError.code !== machine.lastError && lastError.code !== 'unreachable') {
    happened.push({ kind: 'machine.reported_refusal', subject, data: { code: lastError.code, at: lastError.at } })
  }
  return {
    happened,
    alarms,
    machine: {
      rulesVersion: version,
      rulesDigest: digest ?? null,
      rootSeq,
      rootDigest,
      freshAt: freshAt === undefined ? null : new Date(freshAt),
      lastError: lastError?.code ?? null,
      lastErrorAt: lastError ? new Date(lastError.at) : null,
      unsupported,
    },
  }
}

/** The highest version that was published here, or that a machine has proven. */
async function highestKnown(tx: Tx, orgId: string): Promise<number> {
  const newest = await tx.ruleSetVersion.aggregate({ where: { orgId }, _max: { version: true } })
  const { highestReported } = await tx.organisation.findUniqueOrThrow({
    where: { id: orgId },
    select: { highestReported: true },
  })
  return Math.max(newest._max.version ?? 0, highestReported)
}

/** Another digest of the same version: the published one, else one that another machine reports. */
async function otherDigest(tx: Tx, machine: Machine, version: number, digest: string): Promise<string | undefined> {
  const published = await tx.ruleSetVersion.findUnique({
    where: { orgId_version: { orgId: machine.orgId, version } },
    select: { digest: true },
  })
  if (published) return published.digest === digest ? undefined : published.digest
  const elsewhere = await tx.machine.findFirst({
    where: { orgId: machine.orgId, id: { not: machine.id }, rulesVersion: version, rulesDigest: { not: digest } },
    select: { rulesDigest: true },
  })
  return elsewhere?.rulesDigest ?? undefined
}

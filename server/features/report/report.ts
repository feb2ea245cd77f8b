import type { MachineActor } from '#core/actor.ts'
import { AppError } from '#core/error.ts'
import { openJws, payloadDigest } from '#core/jws.ts'
import { ALARM_KINDS, listed, Report, type ReportAnswer } from '#core/protocol.ts'
import type { Machine } from '#generated/prisma/client.ts'
import { notify } from '../../bus.ts'
import type { Tx } from '../../db.ts'
import { crypto } from '../../keys/crypto.ts'
import { markGrant } from '../approval/machine.ts'
import { tellStopped } from '../budget/stopped.ts'
import type { FeatureContext } from '../context.ts'
import { recordEvidence } from '../evidence.ts'
import { noticeRestore } from '../restore.ts'
import { raiseAlarms } from './alarms.ts'
import { takeCounts, takeOutcomes } from './figures.ts'
import { takeHooks } from './hooks.ts'
import { takeJournal } from './journal.ts'
import { provenRuleSet } from './proof.ts'
import { takeRules } from './rules.ts'
import type { Taken } from './taken.ts'
import { takeUnguarded } from './unguarded.ts'

type Ctx = FeatureContext<MachineActor>

/**
 * Takes a machine's signed report. Everything is one transaction under the machine's row: a report is taken
 * whole or not at all, and the machine sends it again. A replay changes nothing and is answered with what is on record.
 */
export async function takeReport(ctx: Ctx, input: { report: string }): Promise<ReportAnswer> {
  const { report, digest } = await openReport(ctx, input.report)
  await lookForRestore(ctx, report)
  return ctx.db.$transaction(async tx => {
    const machine = await lockMachine(tx, ctx.actor.machineId)
    const order = judgeOrder(machine, report, digest)
    if (order === 'replay') return answer(machine)
    await takeOutcomes(tx, machine, report.outcomes)
    await tellStopped(tx, ctx, machine, report.outcomes)
    const taken = [await takeUnguarded(tx, machine, report.unguarded)]
    if (order === 'copied') taken.push(takeCopied(machine, report))
    else taken.push(...(await takeStanding(tx, ctx, machine, report)))
    const raised = report.alarms.map(alarm => ({ ...alarm, what: listed(ALARM_KINDS, alarm.what) }))
    const alarms = [...raised, ...taken.flatMap(part => part.alarms ?? [])]
    await raiseAlarms(tx, machine, alarms)
    const data: Partial<Machine> = {
      lastSeenAt: ctx.now,
      ...Object.assign({}, ...taken.map(part => part.machine ?? {})),
    }
    if (order === 'next')
      Object.assign(data, {
        reportSeq: report.seq,
        reportDigest: digest,
        reportAt: new Date(report.at),
        connector: report.connector,
      })
    const after = await tx.machine.update({ where: { id: machine.id }, data })
    const happened = taken.flatMap(part => part.happened ?? [])
    if (alarms.length > 0 || happened.some(one => one.kind !== 'journal.segment'))
      await notify(tx, { org: machine.orgId, what: 'machine', machine: machine.id })
    // Last, because the ledger is the organisation's one narrow place; each writes its own entry.
    for (const grant of report.grants) await markGrant(tx, ctx, { ...grant, at: new Date(grant.at) })
    for (const one of happened) await recordEvidence(tx, ctx, { ...one, reportedAt: new Date(report.at) })
    return answer(after)
  })
}

const answer = (machine: Machine): ReportAnswer => ({
  seq: machine.reportSeq,
  ...(machine.journalHead === null ? {} : { journal: { seq: machine.journalSeq, head: machine.journalHead } }),
})

async function openReport(ctx: Ctx, jws: string): Promise<{ report: Report; digest: string }> {
  const { machineId, orgId } = ctx.actor
  const { publicKeyX } = await ctx.db.machine.findUniqueOrThrow({
    where: { id: machineId },
    select: { publicKeyX: true },
  })
  const { value, payload } = openJws(
    jws,
    'holdpoint-report+jws',
    [{ kty: 'OKP', crv: 'Ed25519', x: publicKeyX }],
    crypto,
  )
  const read = Report.safeParse(value)
  if (!read.success) {
    const issue = read.error.issues[0]
    throw new AppError(
      'BAD_INPUT',
      `The report is not of a form that this control plane takes${issue?.path.length ? ` (at ${issue.path.join('.')})` : ''}.`,
      { remedy: 'Update the connector.' },
    )
  }
  if (read.data.org !== orgId || read.data.machine !== machineId)
    throw new AppError('FORBIDDEN', 'The report is not of the machine that sent it.')
  return { report: read.data, digest: payloadDigest(payload, crypto.sha256) }
}

/**
 * Before the report itself, in a transaction of its own: a crash in between makes the machine send the report again. A version
 * that nobody here published stops the whole organisation, so a machine's word is not enough for it: see proof.ts.
 */
async function lookForRestore(ctx: Ctx, report: Report): Promise<void> {
  const { version } = report.rules
  const [row] = await ctx.db.$queryRaw<{ known: number; seq: number }[]>`
    select greatest(o."highestReported", coalesce((select max(version) from "RuleSetVersion" where "orgId" = o.id), 0))::int as known, m."reportSeq" as seq
    from "Organisation" o join "Machine" m on m."orgId" = o.id where m.id = ${ctx.actor.machineId}`
  if (version <= row!.known || report.seq <= row!.seq) return
  const proven = await provenRuleSet(ctx.db, ctx.actor.orgId, report.rules)
  if (proven) await noticeRestore(ctx, proven)
}

async function lockMachine(tx: Tx, id: string): Promise<Machine> {
  const [machine] = await tx.$queryRaw<Machine[]>`select * from "Machine" where id = ${id} for no key update`
  return machine!
}

/**
 * `next`: the number rises. `replay`: seen before (the same bytes again, or an older report late). `copied`: a number that was
 * used already comes with a newer content, so two homes share one key, or one was put back from a copy.
 */
function judgeOrder(machine: Machine, report: Report, digest: string): 'next' | 'replay' | 'copied' {
  if (report.seq > machine.reportSeq) return 'next'
  if (digest === machine.reportDigest) return 'replay'
  if (report.seq === machine.reportSeq) return 'copied'
  return machine.reportAt !== null && Date.parse(report.at) > machine.reportAt.getTime() ? 'copied' : 'replay'
}

const COPIED_AGAIN_MS = 24 * 3600_000

/**
 * What a copied home did is taken like any machine's; what it says to have in force is not, because another one says
 * otherwise. A journal that began anew explains a low number by itself. Told once a day while it lasts.
 */
function takeCopied(machine: Machine, report: Report): Taken {
  const journal = takeJournal(machine, report)
  if (journal.happened?.[0]?.kind === 'journal.reset') return journal
  const at = new Date(report.at)
  if (machine.clonedAt !== null && at.getTime() - machine.clonedAt.getTime() < COPIED_AGAIN_MS) return {}
  const data = { seq: report.seq, recordedSeq: machine.reportSeq }
  return {
    machine: { clonedAt: at },
    alarms: [{ what: 'machine_cloned', at: at.toISOString(), count: 1 }],
    happened: [{ kind: 'machine.cloned', subject: { kind: 'machine', id: machine.id }, data }],
  }
}

async function takeStanding(tx: Tx, ctx: Ctx, machine: Machine, report: Report): Promise<Taken[]> {
  await takeCounts(tx, machine, report.counts, ctx.now)
  return [
    takeJournal(machine, report),
    await takeRules(tx, machine, report),
    await takeHooks(tx, machine, report.hooks, ctx.now),
  ]
}

import { LEVEL_NAMES, switchedOffWords } from '#core/level-words.ts'
import { MAIL_DIGEST_WINDOW_MS, MAILS_BEFORE_DIGEST } from '#core/limits.ts'
import type { Db } from '../db.ts'
import { hooksChangedMail, hooksDigestMail } from '../email/hooks-changed.ts'
import { env } from '../env.ts'
import { countAttempt } from '../features/rate.ts'
import { isLost } from '../features/report/hooks.ts'
import { letter, mailTime, messageId } from './mail-letter.ts'
import { enqueue, type Jobs } from './queue.ts'

/** Mails of one machine within an hour: a hook that comes and goes is told a few times, and then as it stands at the hour's end. */
const MAILS_PER_HOUR = 4
const HOUR_MS = 3600_000
const DIGEST_ROWS = 50

const levelName = (level: string) => LEVEL_NAMES[level as keyof typeof LEVEL_NAMES] ?? level

/**
 * Compares what a machine's hooks hold with what its owners were last told, and mails what is less or mended. What came and
 * went before this ran is no mail: it stands in the evidence.
 */
export async function mailHooks(db: Db, { org, machine: id }: Jobs['machine.hooks_mail'], now: Date): Promise<void> {
  await db.$transaction(async tx => {
    // a report of this machine waits, so that what is told is what stands
    await tx.$queryRaw`select id from "Machine" where id = ${id} and "orgId" = ${org} for no key update`
    const machine = await tx.machine.findFirst({
      where: { id, orgId: org, leftAt: null, revokedAt: null },
      include: { hooks: { orderBy: { client: 'asc' } }, member: { select: { name: true } }, org: true },
    })
    if (!machine) return
    const lost = machine.hooks.filter(hook => isLost(hook) && hook.lossToldAt === null)
    const restored = machine.hooks.filter(hook => !isLost(hook) && hook.lossToldAt !== null)
    if (lost.length + restored.length === 0) return
    const { count, until } = await countAttempt({ db: tx, now }, `hooks-mails:${id}`, HOUR_MS)
    if (count > MAILS_PER_HOUR) {
      await enqueue(tx, 'machine.hooks_mail', { org, machine: id }, { key: `hooks:${id}`, runAt: until })
      return
    }
    const owners = await tx.member.findMany({
      where: { orgId: org, role: 'owner', removedAt: null },
      select: { id: true, email: true },
    })
    for (const owner of owners) {
      const sent = await countAttempt({ db: tx, now }, `hooks-mails-to:${owner.id}`, MAIL_DIGEST_WINDOW_MS)
      if (sent.count > MAILS_BEFORE_DIGEST) {
        const digest = { org, member: owner.id }
        await enqueue(tx, 'machine.hooks_digest', digest, { key: `hooks-digest:${owner.id}`, runAt: sent.until })
        continue
      }
      const mail = hooksChangedMail({
        account: owner.email,
        org: machine.org.name,
        machine: machine.label,
        member: machine.member.name,
        lost: lost.map(({ client, countedOn, level, off }) => ({
          client,
          from: levelName(countedOn!),
          to: levelName(level),
          why: off.map(switchedOffWords),
        })),
        restored: restored.map(({ client, level }) => ({ client, to: levelName(level) })),
        at: mailTime(now),
        url: `${env().publicUrl}/${machine.org.slug}/machines/${id}`,
      })
      const mailId = messageId('hooks', id, owner.id, String(now.getTime()))
      await enqueue(tx, 'mail.send', letter(mail, owner.email, mailId), { org })
    }
    const of = (hooks: typeof lost) => ({ machineId: id, client: { in: hooks.map(({ client }) => client) } })
    await tx.machineHook.updateMany({ where: of(lost), data: { lossToldAt: now } })
    for (const { client, level } of restored)
      await tx.machineHook.update({
        where: { machineId_client: { machineId: id, client } },
        data: { lossToldAt: null, countedOn: level },
      })
  })
}

/** What is less on which machines, in one mail; nothing when all is mended by then. */
export async function mailHooksDigest(
  db: Db,
  { org, member: id }: Jobs['machine.hooks_digest'],
  now: Date,
): Promise<void> {
  const member = await db.member.findFirst({
    where: { id, orgId: org, role: 'owner', removedAt: null },
    include: { org: { select: { name: true, slug: true } } },
  })
  if (!member) return
  const machines = await db.machine.findMany({
    where: { orgId: org, leftAt: null, revokedAt: null },
    include: { hooks: true },
    orderBy: { label: 'asc' },
  })
  const less = machines.flatMap(({ label, hooks }) => {
    const clients = hooks.filter(isLost).map(({ client }) => client)
    return clients.length > 0 ? [{ machine: label, clients }] : []
  })
  if (less.length === 0) return
  const mail = hooksDigestMail({
    account: member.email,
    org: member.org.name,
    machines: less.slice(0, DIGEST_ROWS),
    url: `${env().publicUrl}/${member.org.slug}/machines`,
  })
  const mailId = messageId('hooks-digest', id, String(now.getTime()))
  await db.$transaction(tx => enqueue(tx, 'mail.send', letter(mail, member.email, mailId), { org }))
}

import type { Role } from '#core/role.ts'
import type { Db } from '../db.ts'

export type DemoMailRow = { id: string; to: string; subject: string; at: Date }
export type DemoMail = DemoMailRow & {
  text: string
  html: string
  files: { name: string; type: string; text: string }[]
}

/** Mail that was kept because no SMTP_URL is set, newest first. Whether a request may see it is the door's question. */
export async function listDemoMail(
  db: Db,
  { to, limit = 100 }: { to?: string; limit?: number } = {},
): Promise<DemoMailRow[]> {
  return db.demoMail.findMany({
    where: to ? { to } : {},
    select: { id: true, to: true, subject: true, at: true },
    orderBy: { at: 'desc' },
    take: limit,
  })
}

/** One caught mail, whole. */
export async function readDemoMail(db: Db, id: string): Promise<DemoMail | null> {
  const mail = await db.demoMail.findUnique({
    where: { id },
    select: { id: true, to: true, subject: true, at: true, text: true, html: true, files: true },
  })
  return mail && { ...mail, files: mail.files as DemoMail['files'] }
}

/** As many as the sign-in page names. */
const DEMO_MEMBERS = 12

/**
 * The people of the demo organisation, whose codes the demo mailbox shows; nobody of any other organisation. With `org` only
 * when that is the demo one. Whether a request may see them is the door's question.
 */
export async function listDemoMembers(
  db: Db,
  org?: string,
): Promise<{ name: string; role: Role; email: string; org: string }[]> {
  const members = await db.member.findMany({
    where: { removedAt: null, org: { demo: true, ...(org === undefined ? {} : { slug: org }) } },
    select: { name: true, role: true, email: true, org: { select: { name: true } } },
    orderBy: [{ role: 'desc' }, { name: 'asc' }],
    take: DEMO_MEMBERS,
  })
  return members.map(member => ({ ...member, org: member.org.name }))
}

import type { Db } from '../db.ts'

export type DemoMailRow = { id: string; to: string; subject: string; at: Date }
export type DemoMail = DemoMailRow & { text: string; html: string }

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
  return db.demoMail.findUnique({
    where: { id },
    select: { id: true, to: true, subject: true, at: true, text: true, html: true },
  })
}

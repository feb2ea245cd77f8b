import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { readCsv } from '#core/csv.ts'
import { database } from '#server/db.ts'
import { closeMailers } from '#server/email/mailer.ts'
import { setAllocation, setContact } from '#server/features/statement/arrange.ts'
import { resendStatement } from '#server/features/statement/mail.ts'
import { openWorker, type Worker } from '#server/jobs/worker.ts'
import { useDatabase } from '#test/support/db.ts'
import { serverEnvironment } from '#test/support/makers.ts'
import { catchMail } from '#test/support/smtp.ts'
import { type Books, openBooks, pico, spent } from '#test/support/statements.ts'

const db = useDatabase()
let smtp: Awaited<ReturnType<typeof catchMail>>
let worker: Worker | undefined
let books: Books

beforeAll(async () => {
  serverEnvironment()
  smtp = await catchMail()
  process.env.SMTP_URL = smtp.url
})
afterAll(async () => {
  await worker?.stop()
  closeMailers()
  await smtp?.close()
  await database().prisma.$disconnect()
  await database().pool.end()
})
beforeEach(async () => {
  await worker?.stop()
  worker = undefined
  smtp.mails.length = 0
  books = await openBooks(db.prisma, new Date('2026-12-03T12:00:00Z'))
  await books.send({
    '2026-11-03': [
      spent('2026-11-03', 'acme', 1.1111111, { tags: { project: 'web' } }),
      spent('2026-11-03', 'acme', 2.2222222),
      spent('2026-11-03', undefined, 1),
    ],
  })
  await setAllocation(books.ctx(), { key: '', value: '', rule: { kind: 'even' } })
  await setContact(books.ctx(), { tenant: 'acme', name: 'Acme, "Ltd"', contact: 'bills@acme.test' })
})

const start = async () => {
  worker = await openWorker({ ...database(), url: db.url }, { cron: false })
}
const waiting = async () =>
  (await db.admin.query('select count(*)::int as n from graphile_worker._private_jobs')).rows[0].n as number
async function untilSent(): Promise<void> {
  for (const end = Date.now() + 60_000; Date.now() < end; await new Promise(resolve => setTimeout(resolve, 25)))
    if ((await waiting()) === 0) return
  throw new Error('it never went out')
}

it('a closed statement is mailed once to the contact: total, digest, a link without power, and every line as a file', async () => {
  const { digest, total } = await books.close('acme', '2026-11')
  await start()
  const mail = await smtp.next('bills@acme.test')
  await untilSent()
  expect(smtp.mails).toHaveLength(1)
  expect(mail.subject).toBe('Statement of Acme, "Ltd", November 2026: $13.00')
  expect(total).toBe('13')
  const link = `http://localhost:3000/${books.org.slug}/spend/statements/2026-11/acme`
  for (const words of [
    'Own usage: $10.00',
    'Share of what is nobody’s own: $3.00',
    'Total: $13.00',
    `Digest: ${digest}`,
    link,
  ])
    expect(mail.text).toContain(words)
  expect(mail.text).toContain(`opens for signed-in members of ${books.org.slug} only`)
  expect([...mail.text!.matchAll(/https?:\/\/\S+/g)].map(match => match[0])).toEqual([link])
  const [file] = mail.attachments
  expect([file!.filename, file!.contentType]).toEqual([`${books.org.slug}-acme-2026-11.csv`, 'text/csv'])
  const read = readCsv(file!.content.toString('utf8'))
  if (!('rows' in read)) throw new Error(read.message)
  const [heads, ...lines] = read.rows.map(({ cells }) => cells)
  const at = (name: string) => heads!.indexOf(name)
  expect(lines.map(cells => cells[at('kind')])).toEqual(['usage', 'usage', 'allocated'])
  expect(lines.reduce((sum, cells) => sum + pico(cells[at('amount_shown')]!), 0n)).toBe(pico(total))
})

it('what was closed is what is mailed, however often and whatever came since; a worker that died sends it once', async () => {
  await books.close('acme', '2026-11')
  await books.send({ '2026-11-04': [spent('2026-11-04', 'acme', 9)] })
  // What kill -9 leaves: a job that is locked by a worker that nobody is.
  await db.admin.query(
    "update graphile_worker._private_jobs set locked_by = 'worker-killed', locked_at = now() - interval '5 seconds', attempts = 1",
  )
  await start()
  const first = await smtp.next('bills@acme.test')
  await untilSent()
  await setContact(books.ctx(), { tenant: 'acme', name: 'Renamed', contact: 'new@acme.test' })
  await resendStatement(books.ctx(), { tenant: 'acme', month: '2026-11' })
  const again = await smtp.next('new@acme.test')
  await untilSent()
  expect(smtp.mails).toHaveLength(2)
  expect(again.subject).toBe(first.subject)
  expect(again.attachments[0]!.content.equals(first.attachments[0]!.content)).toBe(true)
  expect(again.messageId).not.toBe(first.messageId)
})

it('of a tenant without a contact nothing is mailed', async () => {
  await setContact(books.ctx(), { tenant: 'acme', name: 'Acme', contact: null })
  await books.close('acme', '2026-11')
  expect(await waiting()).toBe(0)
})

import { MailOpen } from 'lucide-react'
import type { Metadata } from 'next'
import Link from 'next/link'
import { notFound } from 'next/navigation'
import { Banner } from '#app/_ui/banner.tsx'
import { Button } from '#app/_ui/button.tsx'
import { EmptyState } from '#app/_ui/empty-state.tsx'
import { Name } from '#app/_ui/name.tsx'
import { Time } from '#app/_ui/time.tsx'
import { type Asked, readAsked } from '#app/asked.ts'
import { api } from '#server/api/caller.ts'
import { mayReadDemoMail } from '#server/auth/current.ts'
import { Frame } from '../frame.tsx'
import { MailWatch } from './mail-watch.tsx'

export const metadata: Metadata = { title: 'Demo mailbox' }

/** Mail that a start without a mail server would have sent. Exists for direct visitors of this machine only. */
export default async function MailboxPage({ searchParams }: { searchParams: Asked }) {
  if (!(await mayReadDemoMail())) notFound()
  const { to } = await readAsked(searchParams, 'to')
  const mails = await (await api()).session.mailbox(to ? { to } : {})
  return (
    <Frame
      wide
      title="Demo mailbox"
      sub={
        to ? (
          <>
            Mail to <strong>{to}</strong>.
          </>
        ) : (
          'What this start would have sent by mail, newest first. Set SMTP_URL to send real mail; this page is gone then.'
        )
      }
      notice={
        <Banner kind="demo" title="Demo mode separates nobody on this machine.">
          Whoever can open this page can read every code and sign in as anybody here. It opens on this machine only, and
          what is answered that way is marked as a demo.
        </Banner>
      }
      below={
        <p>
          <Link className="link" href="/">
            Go to the web app
          </Link>
        </p>
      }
    >
      <MailWatch />
      {to && (
        <div>
          <Button size="sm" href="/mailbox">
            Show all mail
          </Button>
        </div>
      )}
      {mails.length === 0 ? (
        <EmptyState icon={<MailOpen aria-hidden />} title="No mail yet" headingLevel={2} className="py-8">
          Ask for a sign-in code or invite somebody, and the mail appears here within a second or two.
        </EmptyState>
      ) : (
        <ul className="-mx-5 -mb-5 border-t sm:-mx-6 sm:-mb-6">
          {mails.map(mail => (
            <li
              key={mail.id}
              className="relative grid gap-x-4 border-b px-5 py-2.5 last:border-b-0 hover:bg-raised sm:grid-cols-[minmax(0,1fr)_auto] sm:px-6"
            >
              <Link
                href={`/mailbox/${encodeURIComponent(mail.id)}`}
                title={mail.subject}
                className="min-w-0 truncate font-medium after:absolute after:inset-0 after:-outline-offset-2"
              >
                {mail.subject}
              </Link>
              <span className="order-last text-ink-3 text-xs sm:order-none sm:row-span-2 sm:self-center">
                <Time at={mail.at} show="relative" />
              </span>
              <Name className="text-ink-2 text-sm">{mail.to}</Name>
            </li>
          ))}
        </ul>
      )}
    </Frame>
  )
}

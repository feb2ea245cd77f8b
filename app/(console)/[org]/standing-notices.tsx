import Link from 'next/link'
import { Banner } from '#app/_ui/banner.tsx'
import { Button } from '#app/_ui/button.tsx'
import { Time } from '#app/_ui/time.tsx'
import type { Session } from './outputs.ts'

/** What the reader should know on every page: a restored database, a session that may only look, demo data. */
export function StandingNotices({ session }: { session: Session }) {
  const { org, member, rights } = session
  const mayConfirm = rights.includes('restore.confirm')
  return (
    <>
      {org.restoredAt && (
        <Banner
          kind="restored"
          title="This control plane was restored from an older copy."
          action={
            mayConfirm && (
              <Button size="sm" href={`/${org.slug}/settings`}>
                Look and confirm
              </Button>
            )
          }
        >
          A machine has seen newer rules than this database holds (noticed <Time at={org.restoredAt} />
          ). Machines keep what they have; nothing new is published until{' '}
          {mayConfirm ? 'you confirm it in the settings.' : 'an owner confirms it in the settings.'}
        </Banner>
      )}
      {member.method === 'device_link' && (
        <Banner
          kind="note"
          title="You are looking on."
          action={
            <Button size="sm" href="/sign-in">
              Sign in with your own account
            </Button>
          }
        >
          This session began with a link from a machine. It can read, and withdraw your own requests; it can answer and
          change nothing.
        </Banner>
      )}
      {member.demo && (
        <Banner kind="demo" title="Signed in through the demo mailbox.">
          Whatever you answer is marked as a demo in the record.{' '}
          <Link className="link" href="/mailbox">
            Open the mailbox
          </Link>
        </Banner>
      )}
      {org.demo && !member.demo && (
        <Banner kind="demo" title="Demo organisation.">
          Its people are made up; the rules, signatures and machines are real.
        </Banner>
      )}
    </>
  )
}

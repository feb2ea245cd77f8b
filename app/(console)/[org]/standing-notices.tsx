import { Banner } from '#app/_ui/banner.tsx'
import { Button } from '#app/_ui/button.tsx'
import { Time } from '#app/_ui/time.tsx'
import { mayReadDemoMail } from '#server/auth/current.ts'
import { isDemoMode } from '#server/auth/demo-mode.ts'
import type { Session } from './outputs.ts'

/** What the reader should know on every page: a restored database, a session that may only look, demo mode. */
export async function StandingNotices({ session }: { session: Session }) {
  const { org, member, rights } = session
  const demoMode = isDemoMode()
  const mailbox = await mayReadDemoMail()
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
      {demoMode && (
        <Banner
          kind="demo"
          title="Demo mode separates nobody on this machine."
          action={
            mailbox && (
              <Button size="sm" href="/mailbox">
                Open the demo mailbox
              </Button>
            )
          }
        >
          Whoever uses it can read every code and sign in as anybody.
          {member.demo && ' What you answer is marked as a demo.'}
        </Banner>
      )}
      {org.demo && !demoMode && (
        <Banner kind="demo" title="Demo organisation.">
          Its people are made up; the rules, signatures and machines are real.
        </Banner>
      )}
    </>
  )
}

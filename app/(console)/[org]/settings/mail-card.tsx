import Link from 'next/link'
import { Card } from '#app/_ui/card.tsx'
import { formatPlural } from '#app/_ui/format.ts'
import { KeyValue } from '#app/_ui/key-value.tsx'
import { Pill } from '#app/_ui/pill.tsx'
import type { Settings } from '../outputs.ts'

/** Whether mail goes out, from whom, and what is stuck. Set where the control plane is started, not here. */
export function MailCard({ mail, demoMailbox }: { mail: Settings['mail']; demoMailbox: boolean }) {
  const state = mail.configured ? (
    <Pill state={mail.stuck > 0 ? 'waiting' : 'passed'}>{mail.stuck > 0 ? 'some is stuck' : 'is sent'}</Pill>
  ) : (
    <Pill state="shadow">is kept here</Pill>
  )
  return (
    <Card
      id="mail"
      title="Mail"
      aside={state}
      note={
        mail.configured ? undefined : (
          <>
            No mail server is set, so nothing leaves this machine.{' '}
            {demoMailbox && (
              <>
                What would be sent lies in the{' '}
                <Link className="link" href="/mailbox">
                  demo mailbox
                </Link>
                .{' '}
              </>
            )}
            Start the control plane with <code>SMTP_URL</code> to send it.
          </>
        )
      }
    >
      <KeyValue
        items={[
          { key: 'From', value: <span className="break-all">{mail.from}</span> },
          { key: 'Waiting to go out', value: formatPlural(mail.waiting, 'mail') },
          ...(mail.stuck > 0
            ? [
                {
                  key: 'Stuck',
                  value: `${formatPlural(mail.stuck, 'mail')}, refused by the receiving side or tried too often. Nothing is lost by it: requests stand on the approvals page.`,
                },
              ]
            : []),
        ]}
      />
    </Card>
  )
}

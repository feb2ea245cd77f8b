import type { Metadata } from 'next'
import Link from 'next/link'
import { Banner } from '#app/_ui/banner.tsx'
import { Button } from '#app/_ui/button.tsx'
import { Field } from '#app/_ui/field.tsx'
import { TextInput } from '#app/_ui/text-input.tsx'
import { type Asked, pathWith, readAsked } from '#app/asked.ts'
import { mayReadDemoMail } from '#server/auth/current.ts'
import { Frame } from '../../frame.tsx'
import { HiddenFields } from '../../hidden-fields.tsx'
import { RefusalBanner } from '../../refusal-banner.tsx'

export const metadata: Metadata = { title: 'Type the code' }

/** After these there is nothing left to type: only a new code helps. */
const OVER = ['dead', 'expired', 'used', 'wrong_browser', 'no_member', 'invitation']

export default async function CodePage({ searchParams }: { searchParams: Asked }) {
  const { a, next, error } = await readAsked(searchParams, 'a', 'next', 'error')
  const anew = pathWith('/sign-in', { next })
  if (error && OVER.includes(error)) {
    return (
      <Frame title="This code does not work any more" notice={<RefusalBanner code={error} />}>
        <Button href={anew} variant="primary" size="lg">
          Ask for a new code
        </Button>
      </Frame>
    )
  }
  const demoMail = await mayReadDemoMail()
  return (
    <Frame
      title="Look into your mail"
      sub="If the address belongs to somebody here, a mail with a code is on its way. Type the code, or open the mail’s link in this browser. Both work for ten minutes, once, and in no other browser."
      notice={
        <>
          <RefusalBanner code={error} />
          {demoMail && (
            <Banner
              kind="demo"
              title="This start sends no mail."
              action={
                <Button size="sm" href="/mailbox" target="_blank">
                  Open the demo mailbox
                </Button>
              }
            >
              If the address belongs to somebody here, the code lies in the demo mailbox.
            </Banner>
          )}
        </>
      }
      below={
        <p>
          No mail after a minute? Look into the spam folder and check the address, then{' '}
          <Link className="link" href={anew}>
            ask for a new code
          </Link>
          . Never read a code to anybody.
        </p>
      }
    >
      <form method="post" action="/auth/code" className="grid gap-4">
        <HiddenFields fields={{ a, next }} />
        <Field label="Code" hint="Six digits" required>
          <TextInput
            name="code"
            inputMode="numeric"
            autoComplete="one-time-code"
            pattern="\s*[0-9]{3}\s*[0-9]{3}\s*"
            title="Six digits"
            maxLength={9}
            mono
            autoFocus
            className="min-h-11 text-center text-2xl tracking-[0.35em]"
          />
        </Field>
        <Button type="submit" variant="primary" size="lg">
          Sign in
        </Button>
      </form>
    </Frame>
  )
}

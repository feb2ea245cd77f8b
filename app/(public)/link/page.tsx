import { LogIn } from 'lucide-react'
import type { Metadata } from 'next'
import { Button } from '#app/_ui/button.tsx'
import { type Asked, readAsked } from '#app/asked.ts'
import { tokenKind } from '#core/token.ts'
import { Frame } from '../frame.tsx'
import { HiddenFields } from '../hidden-fields.tsx'

export const metadata: Metadata = { title: 'Sign in' }

type Way = { title: string; sub: string; action: string; button: string; field: 'a' | 't' }

const MAILED: Way = {
  title: 'Sign in with this link',
  sub: 'It works once, and only in the browser where you asked for it.',
  action: '/auth/link',
  button: 'Sign in',
  field: 'a',
}
const CONSOLE: Way = {
  title: 'Sign in as the owner',
  sub: 'This one-time address comes from whoever started this installation. It works once. In such a session you may do all that an owner may, except answer requests of your own machines.',
  action: '/auth/console',
  button: 'Sign in once',
  field: 't',
}
const MACHINE: Way = {
  title: 'Look on from this machine',
  sub: 'The command on your machine made this address. The session that it begins may read what you may read and withdraw your own requests. It answers and changes nothing; for that, sign in with your own account.',
  action: '/auth/device-link',
  button: 'Look on',
  field: 't',
}

/**
 * Shows a button and does nothing: mail scanners open links, people press buttons. `a` is a mailed link's secret, `t` a
 * one-time address of the first start or of a machine.
 */
export default async function LinkPage({ searchParams }: { searchParams: Asked }) {
  const { a, t, next } = await readAsked(searchParams, 'a', 't', 'next')
  const kind = t ? tokenKind(t) : undefined
  const way = a ? MAILED : kind === 'console' ? CONSOLE : kind === 'deviceLink' ? MACHINE : undefined
  if (!way) {
    return (
      <Frame
        title="This address is not complete"
        sub="Part of it was lost on the way, perhaps where a line was broken. Copy the whole of it, or sign in anew."
      >
        <Button href="/sign-in" variant="primary" size="lg">
          Go to sign-in
        </Button>
      </Frame>
    )
  }
  return (
    <Frame title={way.title} sub={way.sub}>
      <form method="post" action={way.action} className="grid">
        <HiddenFields fields={{ [way.field]: way.field === 'a' ? a : t, next: way.field === 'a' ? next : undefined }} />
        <Button type="submit" variant="primary" size="lg" icon={<LogIn aria-hidden />} autoFocus>
          {way.button}
        </Button>
      </form>
    </Frame>
  )
}

import { Plus, Trash2, User } from 'lucide-react'
import { Banner } from '#app/_ui/banner.tsx'
import { Button } from '#app/_ui/button.tsx'
import { Card } from '#app/_ui/card.tsx'
import { IconButton } from '#app/_ui/icon-button.tsx'
import { Logo } from '#app/_ui/logo.tsx'
import { Pill } from '#app/_ui/pill.tsx'
import { StatTile } from '#app/_ui/stat-tile.tsx'
import { Countdown } from '#app/_ui/time.tsx'

/** Buttons, pills, banners and tiles. */
export function StateSamples() {
  return (
    <>
      <div className="grid grid-cols-2 gap-3 sm:gap-4 lg:grid-cols-4">
        <StatTile label="Waiting" value="3" note="the oldest for 12 min" href="/acme/approvals" />
        <StatTile label="Session cost" value="$20.14" note="rule: at or above $20.00" />
        <StatTile label="Machines current" value="41 of 43" note="1 behind, 1 silent" />
        <StatTile label="Rules in force" value="12" note="published today, 10:12" />
      </div>
      <Card title="Buttons" aside={<Logo />} padded>
        <div className="grid gap-3">
          <div className="flex flex-wrap items-center gap-2">
            <Button variant="primary">Let this step through</Button>
            <Button>Let the session go on</Button>
            <Button variant="danger">Deny</Button>
            <Button variant="danger-solid">Revoke machine</Button>
            <Button variant="ghost">Cancel</Button>
            <Button href="#main" variant="secondary">
              A link
            </Button>
            <IconButton label="Remove" icon={<Trash2 aria-hidden />} variant="danger" />
            <IconButton label="Add" icon={<Plus aria-hidden />} />
          </div>
          <div className="flex flex-wrap items-center gap-2">
            <Button variant="primary" loading>
              Publishing
            </Button>
            <Button loading>Saving</Button>
            <Button disabled>Not allowed</Button>
            <Button size="sm" icon={<Plus aria-hidden />}>
              Invite
            </Button>
            <Button size="lg" variant="primary">
              Sign in
            </Button>
          </div>
        </div>
      </Card>
      <Card title="States" padded>
        <div className="flex flex-wrap gap-2">
          <Pill state="waiting">
            Waiting · <Countdown until={new Date(Date.now() + 47 * 60_000 + 20_000)} />
          </Pill>
          <Pill state="held">held</Pill>
          <Pill state="passed">enforce</Pill>
          <Pill state="shadow">shadow</Pill>
          <Pill state="partly" icon={<User aria-hidden />}>
            user hook
          </Pill>
          <Pill state="neutral">withdrawn</Pill>
        </div>
      </Card>
      <div className="grid gap-2">
        <Banner
          kind="restored"
          title="This database was restored from a copy."
          action={<Button size="sm">Confirm</Button>}
        >
          No rule set is signed until an owner confirms that it may go on from here.
        </Banner>
        <Banner kind="stale" title="These figures are 14 min old.">
          The server has not answered since; the page will catch up by itself.
        </Banner>
        <Banner kind="problem" title="Not published.">
          Somebody published version 13 while you were writing.
        </Banner>
        <Banner kind="note" title="Good to know.">
          Nothing binds until you move a boundary from shadow to enforce.
        </Banner>
      </div>
    </>
  )
}

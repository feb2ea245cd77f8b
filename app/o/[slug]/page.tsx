import type { Metadata } from 'next'
import { Card } from '#app/_ui/card.tsx'
import { CodeLine } from '#app/_ui/code-line.tsx'
import { Logo } from '#app/_ui/logo.tsx'

/** As organisations are named; anything else is not repeated on the page. */
const SLUG = /^[a-z0-9-]{1,64}$/

export const metadata: Metadata = { title: 'A join line' }

/**
 * Where a join line's address leads when somebody opens it in a browser. The part after # (the one-time token and the
 * root's digest) never reaches the server, and this page reads nothing from it.
 */
export default async function JoinLinePage({ params }: { params: Promise<{ slug: string }> }) {
  const { slug } = await params
  const name = SLUG.test(slug) ? slug : undefined
  return (
    <main className="mx-auto grid max-w-2xl gap-5 px-4 py-10 sm:py-16">
      <Logo />
      <div>
        <h1 className="text-xl tracking-[-0.015em]">This address is for a machine, not for a browser</h1>
        <p className="mt-1 text-pretty text-ink-2">
          It is part of a join line: it lets one machine join {name ? <strong>{name}</strong> : 'an organisation'} as
          one named member, once, within fifteen minutes. Opening it here did nothing, and used nothing up.
        </p>
      </div>
      <Card title="How to use it" padded>
        <ol className="grid list-decimal gap-3 pl-5 marker:text-ink-3">
          <li>
            Go back to the page or message that the line came from and copy the <strong>whole line</strong>. It
            downloads the connector, checks its SHA-256 and joins.
          </li>
          <li>
            Paste it into a terminal of your own on the machine where the agents run. Node 20.19 or newer must be there.
          </li>
          <li>
            Is the connector installed there already? Then join with this address alone:
            <code className="block pt-1">~/.holdpoint/bin/holdpoint join '&lt;this whole address&gt;'</code>
          </li>
          <li>
            Then wire the agents and start the daemon:
            <CodeLine className="mt-1.5" command text="~/.holdpoint/bin/holdpoint hooks install" />
            <CodeLine className="mt-1.5" command text="~/.holdpoint/bin/holdpoint daemon start" />
          </li>
        </ol>
      </Card>
      <Card title="What is in the address" padded>
        <p className="text-pretty text-ink-2">
          After the # stand a one-time token (<code>e=</code>) and the digest of the organisation’s root document (
          <code>r=</code>), by which the machine checks the very first thing it fetches. Browsers do not send that part,
          so this server has not seen it just now. Treat the line like a password until it has been used; if it went
          astray, make a new one on the Machines page: an unused one ends by itself.
        </p>
      </Card>
    </main>
  )
}

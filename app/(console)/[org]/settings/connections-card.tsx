import { KeyRound } from 'lucide-react'
import { Button } from '#app/_ui/button.tsx'
import { Card } from '#app/_ui/card.tsx'
import { CodeLine } from '#app/_ui/code-line.tsx'
import { EmptyState } from '#app/_ui/empty-state.tsx'
import { formatList } from '#app/_ui/format.ts'
import { Time } from '#app/_ui/time.tsx'
import type { Connection } from '../outputs.ts'
import { AddConnection } from './add-connection.tsx'
import { RemoveConnection } from './remove-connection.tsx'

type Props = { org: string; origin: string; connections: readonly Connection[]; mayChange: boolean }

/** Single sign-on: the organisation's providers, what each must be told, and a way to try it. */
export function ConnectionsCard({ org, origin, connections, mayChange }: Props) {
  return (
    <Card
      id="sign-in"
      title="Sign-in providers"
      sub="OpenID Connect"
      aside={mayChange && connections.length > 0 ? <AddConnection org={org} /> : undefined}
      note={mayChange ? undefined : 'Connecting and removing providers takes the role owner.'}
    >
      {connections.length === 0 ? (
        <EmptyState
          icon={<KeyRound aria-hidden />}
          title="No provider is connected"
          action={mayChange ? <AddConnection org={org} /> : undefined}
        >
          Members sign in with a code by e-mail. With your own provider they use the account that they have at work, and
          lose access here when they lose it there.
        </EmptyState>
      ) : (
        <ul>
          {connections.map(({ id, name, issuer, clientId, domains, createdAt }) => (
            <li key={id} className="grid gap-3 border-b p-4 last:border-b-0">
              <div className="flex flex-wrap items-start gap-2">
                <div className="min-w-0 flex-1 basis-60">
                  <h3 className="font-semibold">{name}</h3>
                  <code className="break-all text-ink-2">{issuer}</code>
                  <p className="text-ink-3 text-xs">
                    client <code className="text-xs">{clientId}</code>, believed about{' '}
                    {domains.length === 0 ? 'every domain' : formatList(domains)}, connected{' '}
                    <Time at={createdAt} show="day" />
                  </p>
                </div>
                <form method="post" action="/auth/sso">
                  <input type="hidden" name="org" value={org} />
                  <input type="hidden" name="connection" value={id} />
                  <input type="hidden" name="next" value={`/${org}/settings`} />
                  <Button
                    type="submit"
                    size="sm"
                    aria-label={`Try ${name}: sign in through it`}
                    title="Signs you in through it and comes back here"
                  >
                    Try it
                  </Button>
                </form>
                {mayChange && <RemoveConnection org={org} id={id} name={name} />}
              </div>
              <div className="grid gap-1">
                <span className="text-ink-2 text-sm">Redirect address, to be entered at the provider</span>
                <CodeLine text={`${origin}/api/auth/callback/${id}`} label={`Copy the redirect address of ${name}`} />
              </div>
            </li>
          ))}
          <li className="grid gap-1 border-t p-4">
            <span className="text-ink-2 text-sm">
              Sign-in page with {connections.length === 1 ? 'this provider' : 'these providers'}, to hand to members
            </span>
            <CodeLine text={`${origin}/sign-in?org=${org}`} label="Copy the address of the sign-in page" />
          </li>
        </ul>
      )}
    </Card>
  )
}

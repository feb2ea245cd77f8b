import { HiddenFields } from '../hidden-fields.tsx'

type Props = {
  members: readonly { name: string; role: string; email: string; org: string }[]
  next: string | undefined
}

/** Who is in the demo organisation: one press asks for that person's code, which lies in the demo mailbox. */
export function DemoMembers({ members, next }: Props) {
  return (
    <section aria-label="Members of the demo organisation" className="grid gap-1.5">
      <p>These people are in the demo organisation {members[0]?.org}. One press asks for a code:</p>
      <ul className="grid gap-1">
        {members.map(({ name, role, email }) => (
          <li key={email}>
            <form method="post" action="/auth/email">
              <HiddenFields fields={{ email, next }} />
              <button
                type="submit"
                className="min-h-9 w-full break-words rounded-md border border-line-strong px-3 py-1.5 text-left text-ink-2 hover:border-control hover:bg-raised"
              >
                <span className="font-medium text-ink">{name}</span>, {role}: {email}
              </button>
            </form>
          </li>
        ))}
      </ul>
    </section>
  )
}

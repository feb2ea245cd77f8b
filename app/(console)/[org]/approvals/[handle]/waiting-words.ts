import { formatList } from '#app/_ui/format.ts'
import type { ApprovalDetail } from '../../outputs.ts'

type Waiting = Pick<ApprovalDetail, 'approvals' | 'votes' | 'answeredBy'> & {
  eligible: readonly { name: string; role: string; me: boolean }[]
  mayAnswer: { ok: boolean }
}

const MOST_NAMES = 4

/** Who could answer right now, the reader first, and whether they are enough. */
export function whoCan({ eligible, approvals, mayAnswer }: Waiting): string {
  if (eligible.length === 0) return 'Right now nobody can.'
  const words = eligible
    .toSorted((a, b) => Number(b.me) - Number(a.me))
    .map(({ name, role, me }) =>
      !me
        ? `${name} (${role})`
        : mayAnswer.ok
          ? `you (${role})`
          : `you (${role}), signed in with an account of your own`,
    )
  const more = words.length - MOST_NAMES
  const shown = more > 0 ? [...words.slice(0, MOST_NAMES), `${more} more`] : words
  const list = formatList(shown, approvals > 1 || more > 0 ? 'and' : 'or')
  return `Right now that is ${list}${words.length < approvals ? ', which is too few' : ''}.`
}

/** How far a quorum has come, by whom; undefined while nobody has approved. */
export function soFar({ approvals, votes, answeredBy }: Waiting): string | undefined {
  if (votes === 0) return undefined
  const names = answeredBy.filter(by => by.decision === 'approve').map(by => by.name)
  return `${votes} of ${approvals} so far${names.length === votes ? `: ${formatList(names)}` : ''}.`
}

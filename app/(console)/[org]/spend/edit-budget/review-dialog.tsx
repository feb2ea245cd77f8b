'use client'

import { useMutation } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { useTRPC } from '#app/_client/trpc.tsx'
import type { EditResult } from '#core/boundary/document-edit.ts'
import { type Base, EditReview } from '../edit-review.tsx'

export type { Base }

type Edit =
  | { kind: 'save'; name?: string | undefined; budget: Record<string, unknown> }
  | { kind: 'remove'; name: string }

type Props = {
  org: string
  base: Base
  edit: Edit
  /** Makes the edit in a text: again in another one when somebody published meanwhile. */
  apply: (text: string) => EditResult
  onBase: (base: Base) => void
  onClose: () => void
}

/** One budget's change, or its end, before it is signed. */
export function ReviewDialog({ org, base, edit, apply, onBase, onClose }: Props) {
  const trpc = useTRPC()
  const router = useRouter()
  const save = useMutation(trpc.budget.save.mutationOptions())
  const remove = useMutation(trpc.budget.remove.mutationOptions())
  const isSave = edit.kind === 'save'
  return (
    <EditReview
      title={isSave ? 'Review and publish' : `Remove budget ${edit.name}?`}
      description={
        isSave
          ? 'The budget is written into the text of the rules; comments and everything else stay. It is signed as the next version.'
          : 'Nobody is told of its steps any more. A boundary that names it would be refused: change that first. What was told stays on record.'
      }
      confirmLabel={isSave ? 'Sign and publish' : 'Sign and remove'}
      danger={!isSave}
      alike="Nothing differs: the budget stands like this already."
      {...{ base, apply, onBase, onClose }}
      publish={publication =>
        isSave
          ? save.mutateAsync({
              org,
              ...publication,
              budget: edit.budget,
              ...(edit.name === undefined ? {} : { name: edit.name }),
            })
          : remove.mutateAsync({ org, ...publication, name: edit.name })
      }
      onDone={() => {
        const name = isSave ? String(edit.budget.name) : undefined
        router.push(`/${org}/spend/budgets${name ? `/${name}` : ''}`)
      }}
    />
  )
}

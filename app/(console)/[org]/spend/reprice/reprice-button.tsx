'use client'

import { useMutation } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { useTRPC } from '#app/_client/trpc.tsx'
import { Button } from '#app/_ui/button.tsx'
import { ConfirmDialog } from '#app/_ui/confirm-dialog.tsx'
import { formatList, formatPlural } from '#app/_ui/format.ts'
import { toast } from '#app/_ui/toast-store.ts'
import { monthWords } from '#core/day.ts'
import { withRemedy } from '../../with-remedy.ts'

type Props = { org: string; from: string; to: string; months: readonly string[] }

/** The act itself, asked for once more. `months`: those whose statements are closed. */
export function RepriceButton({ org, from, to, months }: Props) {
  const trpc = useTRPC()
  const router = useRouter()
  const act = useMutation(trpc.spend.reprice.mutationOptions())
  return (
    <div className="flex flex-wrap gap-2">
      <ConfirmDialog
        trigger={<Button variant="primary">Reprice from {from}</Button>}
        tone="primary"
        title={`Price everything since ${from} anew?`}
        description="Reports and budgets follow at once. The record says who did it, for which machines and days, with the old and the new cost. What machines send for these days later is priced the same way."
        confirmLabel={`Reprice from ${from}`}
        onConfirm={async () => {
          const { days } = await withRemedy(act.mutateAsync({ org, from, to }))
          toast('Usage is priced anew', {
            description: `${formatPlural(days, 'day')} of usage gone through, counted for each machine.`,
          })
          router.push(`/${org}/spend/rates`)
          router.refresh()
        }}
      >
        {months.length > 0 && (
          <p className="text-ink-2">
            Statements of {formatList(months.map(monthWords))} are closed and keep their figures. The difference stands
            on the next statement, as an adjustment.
          </p>
        )}
      </ConfirmDialog>
      <Button href={`/${org}/spend/rates`}>Leave it as it is</Button>
    </div>
  )
}

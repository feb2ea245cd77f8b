'use client'

import { useMutation } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { useTRPC } from '#app/_client/trpc.tsx'
import { Button } from '#app/_ui/button.tsx'
import { Card } from '#app/_ui/card.tsx'
import { ConfirmDialog } from '#app/_ui/confirm-dialog.tsx'
import { Pill } from '#app/_ui/pill.tsx'
import { Time } from '#app/_ui/time.tsx'
import { toast } from '#app/_ui/toast-store.ts'
import { withRemedy } from '../with-remedy.ts'

/** The database is older than what machines have seen: says what that means, and lets an owner go on. */
export function RestoreCard({ org, at, mayConfirm }: { org: string; at: Date; mayConfirm: boolean }) {
  const router = useRouter()
  const confirm = useMutation(useTRPC().settings.confirmRestore.mutationOptions({ onSettled: () => router.refresh() }))
  return (
    <Card
      id="restored"
      title="Restored from an older copy"
      aside={<Pill state="waiting">waits for an owner</Pill>}
      note={mayConfirm ? undefined : 'Confirming takes the role owner and a sign-in of one’s own.'}
    >
      <div className="grid gap-3 p-4">
        <p>
          A machine reported newer boundaries than this database holds. It was noticed <Time at={at} show="relative" />.
          Either the database was restored from a backup, or somebody shows machines another one.
        </p>
        <ul className="grid list-disc gap-1 pl-5 text-ink-2 marker:text-ink-3">
          <li>Machines keep the boundaries that they have; nothing gets looser.</li>
          <li>What waited for an answer was withdrawn; everybody signs in again, with the command too.</li>
          <li>
            Nothing is published until an owner confirms. What was published after the backup is lost here: compare with
            a machine before you publish.
          </li>
        </ul>
        {mayConfirm && (
          <div>
            <ConfirmDialog
              title="Go on with this copy?"
              description="You say that the database was restored on purpose. The next boundaries that you publish get a version above everything that machines have seen, and replace it."
              trigger={<Button variant="primary">Go on with this copy</Button>}
              confirmLabel="Go on with this copy"
              tone="primary"
              typedWord="restored"
              onConfirm={async () => {
                const { nextVersion } = await withRemedy(confirm.mutateAsync({ org }))
                toast('Confirmed', { description: `The next boundaries become version ${nextVersion}.` })
              }}
            />
          </div>
        )}
      </div>
    </Card>
  )
}

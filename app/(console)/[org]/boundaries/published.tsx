'use client'

import { useQuery } from '@tanstack/react-query'
import { ShieldCheck } from 'lucide-react'
import { useTRPC } from '#app/_client/trpc.tsx'
import { Button } from '#app/_ui/button.tsx'
import { Dialog, DialogClose } from '#app/_ui/dialog.tsx'
import { formatPlural } from '#app/_ui/format.ts'
import { ProgressBar } from '#app/_ui/progress-bar.tsx'

type Props = { org: string; version: number; machines: number; onClose: () => void }

/** It is done: the version, and the machines taking it one after another while the dialog is open. */
export function Published({ org, version, machines, onClose }: Props) {
  const trpc = useTRPC()
  const { data } = useQuery(trpc.boundary.current.queryOptions({ org }, { refetchInterval: 2000, staleTime: 0 }))
  // Until the first answer after publishing comes, the number would be of the version before.
  const on = data?.version === version ? data.inForceOn : 0
  const all = data?.machines ?? machines
  return (
    <Dialog
      open
      onOpenChange={open => !open && onClose()}
      size="sm"
      title={
        <span className="flex items-center gap-2">
          <ShieldCheck aria-hidden className="size-5 text-passed" />
          Version {version} is signed
        </span>
      }
      footer={
        <>
          <Button href={`/${org}/boundaries/history/${version}`}>Show it in the history</Button>
          <DialogClose>
            <Button variant="primary">Done</Button>
          </DialogClose>
        </>
      }
    >
      {all === 0 ? (
        <p className="text-ink-2">No machine has joined yet. The first one that does takes this version.</p>
      ) : (
        <div className="grid gap-2">
          <p role="status">
            <b>{on}</b> of {formatPlural(all, 'machine')} {on === 1 ? 'says' : 'say'} it is in force there.
          </p>
          <p className="text-ink-2 text-sm">
            Those that are on take it within seconds and say so in their next report, within a minute; the others when
            they are next heard of.
          </p>
          <ProgressBar label={`Machines with version ${version}`} fraction={on / all} valueText={`${on} of ${all}`} />
        </div>
      )}
    </Dialog>
  )
}

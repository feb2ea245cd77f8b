'use client'

import { useMemo } from 'react'
import { Banner } from '#app/_ui/banner.tsx'
import { Button } from '#app/_ui/button.tsx'
import { Dialog, DialogClose } from '#app/_ui/dialog.tsx'
import { DiffView } from '#app/_ui/diff-view.tsx'
import type { Base } from './draft-store.ts'
import { mergeLines } from './merge-lines.ts'

/** A version in force, with who put it there. */
export type InForce = Base & { publishedBy: string | null; note: string }

type Props = {
  base: Base
  mine: string
  theirs: InForce
  onClose: () => void
  /** Goes on from theirs with this text on top. */
  onCarry: (text: string) => void
}

/** Somebody else published first: both changes side by side, and the author's carried over onto theirs. */
export function StaleDialog({ base, mine, theirs, onClose, onCarry }: Props) {
  const merge = useMemo(() => mergeLines(base.text, mine, theirs.text), [base.text, mine, theirs.text])
  const from = base.version === 0 ? 'an empty set' : `version ${base.version}`
  return (
    <Dialog
      open
      onOpenChange={open => !open && onClose()}
      size="lg"
      title={`Version ${theirs.version} came first`}
      description={
        <>
          {theirs.publishedBy ?? 'Somebody'} published it after you began from {from}.{' '}
          {theirs.note && <>Their note: “{theirs.note}” </>}Nothing of yours is lost, and nothing of theirs is
          overwritten unseen.
        </>
      }
      footer={
        <>
          <DialogClose>
            <Button>Go on writing</Button>
          </DialogClose>
          <Button variant="danger" onClick={() => onCarry(theirs.text)}>
            Drop mine, take theirs
          </Button>
          <Button variant="primary" onClick={() => onCarry(merge.text)}>
            Put mine on top of theirs
          </Button>
        </>
      }
    >
      <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
        {merge.clean ? (
          <Banner kind="note" title="The two changes fit together.">
            They touch different lines. Carried over, your draft holds both.
          </Banner>
        ) : (
          <Banner kind="stale" title="Both changed the same lines.">
            Carried over, those lines stay as you wrote them and theirs are taken out there. The review shows it before
            anything is published.
          </Banner>
        )}
        <div className="grid gap-4 md:grid-cols-2">
          <Side title={`Theirs: ${from} to version ${theirs.version}`}>
            <DiffView before={base.text} after={theirs.text} label={`${from} and version ${theirs.version}`} />
          </Side>
          <Side title={`Yours: ${from} to your draft`}>
            <DiffView before={base.text} after={mine} label={`${from} and your draft`} />
          </Side>
        </div>
      </div>
    </Dialog>
  )
}

function Side({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <section className="min-w-0 rounded-md border">
      <h3 className="border-b px-4 py-2 text-sm">{title}</h3>
      {children}
    </section>
  )
}

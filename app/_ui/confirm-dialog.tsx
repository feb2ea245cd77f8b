'use client'

import { type ReactNode, useState } from 'react'
import { Banner } from './banner.tsx'
import { Button } from './button.tsx'
import { Dialog, DialogClose } from './dialog.tsx'
import { Field } from './field.tsx'
import { TextInput } from './text-input.tsx'

type Props = {
  title: ReactNode
  /** What will happen if it is pressed, and whether it can be undone. */
  description: ReactNode
  trigger?: ReactNode
  open?: boolean
  onOpenChange?: (open: boolean) => void
  /** Names the act: "Revoke machine", never "OK". */
  confirmLabel: string
  tone?: 'primary' | 'danger-solid'
  /** The button stays shut until this word is typed. */
  typedWord?: string
  /** More fields, such as a reason. */
  children?: ReactNode
  /** Closes when it resolves; stays open and shows the message when it rejects. */
  onConfirm: () => unknown
}

/** Asks before an act that cannot be taken back easily. */
export function ConfirmDialog(props: Props) {
  const { title, description, trigger, confirmLabel, tone = 'danger-solid', typedWord, children, onConfirm } = props
  const [ownOpen, setOwnOpen] = useState(false)
  const [typed, setTyped] = useState('')
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<string>()
  const setOpen = (open: boolean) => {
    setTyped('')
    setFailure(undefined)
    setOwnOpen(open)
    props.onOpenChange?.(open)
  }
  const ready = typedWord === undefined || typed.trim() === typedWord
  const confirm = async () => {
    if (!ready || busy) return
    setBusy(true)
    setFailure(undefined)
    try {
      await onConfirm()
      setOpen(false)
    } catch (error) {
      setFailure(error instanceof Error ? error.message : 'It did not work. Nothing was changed.')
    } finally {
      setBusy(false)
    }
  }
  return (
    <Dialog
      {...{ title, description, trigger }}
      role="alertdialog"
      size="sm"
      open={props.open ?? ownOpen}
      onOpenChange={open => !busy && setOpen(open)}
      footer={
        <>
          <DialogClose>
            <Button disabled={busy}>Cancel</Button>
          </DialogClose>
          <Button variant={tone} loading={busy} disabled={!ready} onClick={confirm}>
            {confirmLabel}
          </Button>
        </>
      }
    >
      <form
        className="grid gap-4 empty:hidden"
        onSubmit={event => {
          event.preventDefault()
          confirm()
        }}
      >
        {children}
        {typedWord !== undefined && (
          <Field
            label={
              <>
                Type <code className="select-all">{typedWord}</code> to confirm
              </>
            }
          >
            <TextInput
              mono
              value={typed}
              onChange={event => setTyped(event.target.value)}
              autoComplete="off"
              autoCapitalize="off"
              spellCheck={false}
            />
          </Field>
        )}
        {failure && (
          <Banner kind="problem" title="It did not work.">
            {failure}
          </Banner>
        )}
      </form>
    </Dialog>
  )
}

'use client'

import { useState } from 'react'
import { ConfirmDialog } from '#app/_ui/confirm-dialog.tsx'
import { Switch } from '#app/_ui/switch.tsx'
import { useSetting } from './use-setting.ts'

/** Switching off asks first, for it ends what is in force; switching on does not. */
export function CommandSwitch({ org, on, mayChange }: { org: string; on: boolean; mayChange: boolean }) {
  const [asking, setAsking] = useState(false)
  const save = useSetting(on ? 'Credentials of the command are switched off' : 'Credentials of the command are allowed')
  return (
    <>
      <Switch
        label="Owners and admins may sign in with the command"
        hint="holdpoint team admin login, confirmed in the browser each time: for twelve hours it publishes boundaries and answers requests of other people, never one’s own."
        checked={on}
        disabled={!mayChange || save.isPending}
        onChange={() => (on ? setAsking(true) : save.mutate({ org, adminCredential: true }))}
      />
      {save.error && (
        <p role="alert" className="mt-2 text-held text-sm">
          {save.error.message}
        </p>
      )}
      <ConfirmDialog
        open={asking}
        onOpenChange={setAsking}
        title="Switch the command’s credentials off?"
        description="Those in force end at once, and no new one is made. Boundaries are then published, and requests answered, on these pages only."
        confirmLabel="Switch off"
        onConfirm={() => save.mutateAsync({ org, adminCredential: false })}
      />
    </>
  )
}

'use client'

import { useState } from 'react'
import { Button } from '#app/_ui/button.tsx'
import { Field } from '#app/_ui/field.tsx'
import { TextInput } from '#app/_ui/text-input.tsx'
import { useSetting } from './use-setting.ts'

export function NameForm({ org, name, mayChange }: { org: string; name: string; mayChange: boolean }) {
  const [typed, setTyped] = useState(name)
  const save = useSetting('The name is changed')
  return (
    <form
      className="flex flex-wrap items-end gap-2"
      onSubmit={event => {
        event.preventDefault()
        save.mutate({ org, name: typed })
      }}
    >
      <Field label="Name" className="flex-1 basis-60" error={save.error?.message}>
        <TextInput
          value={typed}
          onChange={event => setTyped(event.target.value)}
          maxLength={100}
          readOnly={!mayChange}
          autoComplete="off"
        />
      </Field>
      {mayChange && (
        <Button type="submit" loading={save.isPending} disabled={typed.trim() === '' || typed.trim() === name}>
          Save
        </Button>
      )}
    </form>
  )
}

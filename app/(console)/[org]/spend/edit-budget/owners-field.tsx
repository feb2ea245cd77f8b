import { X } from 'lucide-react'
import { Field } from '#app/_ui/field.tsx'
import { IconButton } from '#app/_ui/icon-button.tsx'
import { Name } from '#app/_ui/name.tsx'
import { Select, type SelectOption } from '#app/_ui/select.tsx'
import { MAX_OWNERS } from '#core/rules/limits.ts'

type Props = {
  choices: readonly SelectOption[]
  owners: readonly string[]
  onChange: (owners: string[]) => void
}

/** Whom a budget's steps are mailed to: any number of roles and members, one at least. */
export function OwnersField({ choices, owners, onChange }: Props) {
  const nameOf = (owner: string) => choices.find(({ value }) => value === owner)?.label ?? owner
  const rest = choices.filter(({ value }) => !owners.includes(value))
  return (
    <div className="grid min-w-0 content-start gap-2">
      <Field label="Owners" hint="They get a mail at each step, and when the budget stops somebody.">
        <Select
          options={[{ value: '', label: 'Add a role or a person' }, ...rest]}
          value=""
          disabled={owners.length >= MAX_OWNERS}
          onChange={event => event.target.value !== '' && onChange([...owners, event.target.value])}
        />
      </Field>
      <ul aria-label="Owners of the budget" className="flex flex-wrap gap-1.5">
        {owners.map(owner => (
          <li
            key={owner}
            className="inline-flex min-w-0 items-center gap-1 rounded-md bg-raised py-0.5 pr-0.5 pl-2 text-sm"
          >
            <Name className="max-w-56">{nameOf(owner)}</Name>
            <IconButton
              size="sm"
              label={`Take ${nameOf(owner)} out`}
              disabled={owners.length === 1}
              icon={<X aria-hidden />}
              onClick={() => onChange(owners.filter(one => one !== owner))}
            />
          </li>
        ))}
      </ul>
    </div>
  )
}

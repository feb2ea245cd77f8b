'use client'

import { Plus } from 'lucide-react'
import { useState } from 'react'
import { Button } from '#app/_ui/button.tsx'
import { Card } from '#app/_ui/card.tsx'
import { Field } from '#app/_ui/field.tsx'
import { Menu, MenuItem } from '#app/_ui/menu.tsx'
import { Name } from '#app/_ui/name.tsx'
import { TextInput } from '#app/_ui/text-input.tsx'
import type { SpendEdit } from '#core/rules/spend-edit.ts'
import { TAG_KEY, TAG_VALUE } from '#core/usage/tags.ts'
import { CsvLink } from '../../csv-link.tsx'
import type { AttributionInForce } from '../../outputs.ts'
import type { Base } from '../edit-review.tsx'
import { SpendEditReview } from '../spend-edit-review.tsx'
import { RenameDialog } from './rename-dialog.tsx'
import { keyName } from './words.ts'

type List = AttributionInForce['lists'][number]
type Value = List['values'][number]
type Props = {
  org: string
  lists: readonly List[]
  base: Base
  mayEdit: boolean
  /** A tenant's key that stands ready to be listed. */
  ready?: string | undefined
}
type Asked = { edit: SpendEdit; title: string; description: string; danger?: boolean }

/** The keys of tags and the values that may leave a machine. */
export function ListsCard({ org, lists, base: current, mayEdit, ready }: Props) {
  const [base, setBase] = useState(current)
  const [asked, setAsked] = useState<Asked>()
  const [renaming, setRenaming] = useState<{ key: string; value: string }>()
  if (base.version < current.version) setBase(current)
  const add = (key: string, value: string) =>
    setAsked({
      edit: { kind: 'add_tag_value', key, value },
      title: `List ${key} ${value}`,
      description: 'From then on machines send this value; until now it stayed on them as unattributed.',
    })
  const acts: Acts = {
    add,
    rename: (key, value) => setRenaming({ key, value }),
    back: (key, { value, renamedTo }) =>
      setAsked({
        edit: { kind: 'remove_rename', key, from: value },
        title: `Read ${value} as ${value} again?`,
        description: `Reports, budgets and statements to come no longer read it as ${renamedTo}. What was recorded never changed.`,
        danger: true,
      }),
    remove: (key, value) =>
      setAsked({
        edit: { kind: 'remove_tag_value', key, value },
        title: `Take ${value} off the list?`,
        description:
          'Machines send it no more: later usage of it, and past days that they send again, are unattributed. What was recorded stays in reports.',
        danger: true,
      }),
    removeKey: key =>
      setAsked({
        edit: { kind: 'remove_tag', key },
        title: `Remove the tag ${key}?`,
        description: 'Its list goes with it. Rules and budgets that name it have to be changed first.',
        danger: true,
      }),
  }
  return (
    <Card
      title="Tags"
      sub="only these values ever leave a machine"
      aside={<CsvLink org={org} list="tag-values" />}
      note="A value that is on no list stays on its machine, which sends the usage as unattributed and says how much of it there is. What was used while a value stood here stays its own when it goes."
    >
      <ul>
        {lists.map(list => (
          <li key={list.key} className="border-b px-4 py-3 last:border-b-0">
            <KeyRow
              key={list.key === 'tenant' ? ready : undefined}
              list={list}
              mayEdit={mayEdit}
              acts={acts}
              ready={list.key === 'tenant' ? ready : undefined}
            />
          </li>
        ))}
      </ul>
      {mayEdit && <NewKey taken={lists.map(({ key }) => key)} onAdd={add} />}
      {asked && (
        <SpendEditReview
          org={org}
          base={base}
          {...asked}
          onBase={setBase}
          onClose={() => setAsked(undefined)}
          onDone={() => setAsked(undefined)}
        />
      )}
      {renaming && (
        <RenameDialog
          tag={renaming.key}
          value={renaming.value}
          onClose={() => setRenaming(undefined)}
          onRename={to => {
            const { key, value } = renaming
            setRenaming(undefined)
            setAsked({
              edit: { kind: 'rename', key, from: value, to },
              title: `Call ${value} ${to}`,
              description: `Reports, budgets and statements to come read ${value} as ${to}; totals stay the same. What was recorded is not changed, and machines may go on saying ${value}.`,
            })
          }}
        />
      )}
    </Card>
  )
}

type Acts = {
  add(key: string, value: string): void
  rename(key: string, value: string): void
  back(key: string, value: Value): void
  remove(key: string, value: string): void
  removeKey(key: string): void
}

type KeyProps = { list: List; mayEdit: boolean; acts: Acts; ready: string | undefined }

function KeyRow({ list, mayEdit, acts, ready = '' }: KeyProps) {
  const { key, standing, values, former } = list
  const [value, setValue] = useState(ready)
  const [asked, setAsked] = useState(false)
  const word = value.trim()
  const error = !TAG_VALUE.test(word)
    ? 'Small letters, digits, dots, - and _, a letter or digit first.'
    : values.some(one => one.value === word)
      ? 'It is on the list.'
      : undefined
  return (
    <div className="grid gap-2">
      <div className="flex flex-wrap items-baseline gap-x-2">
        <h3 className="font-medium">{keyName(key)}</h3>
        {standing && <span className="text-ink-3 text-xs">every organisation has it</span>}
        {mayEdit && !standing && values.length > 0 && (
          <Button size="sm" variant="ghost" className="ml-auto" onClick={() => acts.removeKey(key)}>
            Remove this tag
          </Button>
        )}
      </div>
      {values.length + former.length === 0 ? (
        <p className="text-ink-3">Nothing is listed, so nothing of it is sent.</p>
      ) : (
        <ul aria-label={`Values of ${key}`} className="flex min-w-0 flex-wrap gap-1.5">
          {[...values.map(one => ({ ...one, listed: true })), ...former.map(one => ({ ...one, listed: false }))].map(
            one => (
              <li key={one.value} className="min-w-0 max-w-full">
                <ValueChip tag={key} value={one} mayEdit={mayEdit} acts={acts} />
              </li>
            ),
          )}
        </ul>
      )}
      {mayEdit && (
        <form
          id={`new-${key}`}
          aria-label={`Add a ${key}`}
          className="flex flex-wrap items-start gap-2"
          onSubmit={event => {
            event.preventDefault()
            setAsked(true)
            if (error) return
            setAsked(false)
            setValue('')
            acts.add(key, word)
          }}
        >
          <Field label={`New ${key}`} hideLabel error={asked && word !== '' && error} className="w-52">
            <TextInput
              mono
              value={value}
              maxLength={63}
              placeholder={`new ${key}`}
              onChange={event => setValue(event.target.value)}
            />
          </Field>
          <Button type="submit" icon={<Plus aria-hidden />} disabled={word === ''}>
            Add
          </Button>
        </form>
      )}
    </div>
  )
}

type ChipProps = { tag: string; value: Value & { listed: boolean }; mayEdit: boolean; acts: Acts }

function ValueChip({ tag, value, mayEdit, acts }: ChipProps) {
  const words = (
    <>
      <Name className="min-w-0">{value.value}</Name>
      {value.renamedTo !== null && <Name className="min-w-0 text-ink-3">{`now ${value.renamedTo}`}</Name>}
      {!value.listed && <span className="text-ink-3">not listed</span>}
    </>
  )
  const look =
    'inline-flex min-h-7 min-w-0 max-w-full items-center gap-1.5 rounded-md border border-line-strong bg-raised px-2 text-xs'
  if (!mayEdit) return <span className={look}>{words}</span>
  return (
    <Menu
      label={`What to do with ${tag} ${value.value}`}
      align="start"
      trigger={
        <button type="button" className={`${look} hover:border-control`} aria-label={`${tag} ${value.value}`}>
          {words}
        </button>
      }
    >
      {value.renamedTo === null ? (
        <MenuItem onSelect={() => acts.rename(tag, value.value)}>Rename…</MenuItem>
      ) : (
        <MenuItem onSelect={() => acts.back(tag, value)}>Undo the rename…</MenuItem>
      )}
      {value.listed ? (
        <MenuItem danger onSelect={() => acts.remove(tag, value.value)}>
          Take off the list…
        </MenuItem>
      ) : (
        <MenuItem onSelect={() => acts.add(tag, value.value)}>List it again…</MenuItem>
      )}
    </Menu>
  )
}

function NewKey({ taken, onAdd }: { taken: readonly string[]; onAdd: (key: string, value: string) => void }) {
  const [key, setKey] = useState('')
  const [value, setValue] = useState('')
  const [asked, setAsked] = useState(false)
  const [word, first] = [key.trim(), value.trim()]
  const keyError = !TAG_KEY.test(word)
    ? 'Small letters, digits, - and _, a letter first.'
    : taken.includes(word)
      ? 'There is such a tag.'
      : undefined
  const valueError = TAG_VALUE.test(first) ? undefined : 'Small letters, digits, dots, - and _.'
  return (
    <form
      aria-label="Add a tag"
      className="flex flex-wrap items-start gap-2 border-t px-4 py-3"
      onSubmit={event => {
        event.preventDefault()
        setAsked(true)
        if (keyError || valueError) return
        onAdd(word, first)
        setAsked(false)
        setKey('')
        setValue('')
      }}
    >
      <Field label="Another tag" error={asked && keyError} className="w-40">
        <TextInput mono value={key} maxLength={32} placeholder="team" onChange={event => setKey(event.target.value)} />
      </Field>
      <Field label="Its first value" error={asked && valueError} className="w-52">
        <TextInput
          mono
          value={value}
          maxLength={63}
          placeholder="platform"
          onChange={event => setValue(event.target.value)}
        />
      </Field>
      <Button type="submit" icon={<Plus aria-hidden />} className="mt-6.5">
        Add
      </Button>
    </form>
  )
}

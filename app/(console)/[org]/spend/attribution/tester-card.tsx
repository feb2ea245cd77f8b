import { Button } from '#app/_ui/button.tsx'
import { Card } from '#app/_ui/card.tsx'
import { Field } from '#app/_ui/field.tsx'
import { KeyValue } from '#app/_ui/key-value.tsx'
import { Select, type SelectOption } from '#app/_ui/select.tsx'
import { TextInput } from '#app/_ui/text-input.tsx'
import { decidedByRules, directoryNames, repositoryNames, type SessionFacts } from '#core/usage/attribution.ts'
import { type RenameMap, renamedValue } from '#core/usage/renames.ts'
import type { AttributionInForce } from '../../outputs.ts'
import { keyName, whenWords } from './words.ts'

export const TRY_FIELDS = ['repository', 'directory', 'machine', 'member', 'environment'] as const
export type Tried = Partial<Record<(typeof TRY_FIELDS)[number], string | undefined>>

type Props = {
  org: string
  tried: Tried
  rules: AttributionInForce['rules']
  keys: readonly string[]
  renames: RenameMap
  machines: readonly SelectOption[]
  members: readonly SelectOption[]
}

/** What the rules in force make of a session, and which rule decided. Nothing is sent or kept. */
export function TesterCard({ org, tried, rules, keys, renames, machines, members }: Props) {
  const isTried = Object.values(tried).some(Boolean)
  const { tags, held } = decidedByRules(rules, factsOf(tried, machines, members))
  const late = held.filter(rule => !Object.values(tags).some(one => one.rule === rule))
  return (
    <Card title="Try the rules" sub="as they are in force">
      <form
        key={JSON.stringify(tried)}
        aria-label="Try the rules"
        method="get"
        action={`/${org}/spend/attribution#try`}
        id="try"
        className="grid gap-3 border-b px-4 py-3"
      >
        <Field label="Repository">
          <TextInput
            name="repository"
            mono
            maxLength={300}
            defaultValue={tried.repository}
            placeholder="github.com/acme/billing-api"
          />
        </Field>
        <Field label="Folder">
          <TextInput
            name="directory"
            mono
            maxLength={300}
            defaultValue={tried.directory}
            placeholder="/home/ana/work/billing-api"
          />
        </Field>
        <div className="grid gap-3 sm:grid-cols-2">
          <Field label="Machine">
            <Select name="machine" options={machines} placeholder="any" defaultValue={tried.machine ?? ''} />
          </Field>
          <Field label="Member">
            <Select name="member" options={members} placeholder="any" defaultValue={tried.member ?? ''} />
          </Field>
        </div>
        <Field label="Environment variable">
          <TextInput
            name="environment"
            mono
            maxLength={300}
            defaultValue={tried.environment}
            placeholder="CI_TEAM=data"
          />
        </Field>
        <div>
          <Button type="submit">Try</Button>
        </div>
      </form>
      {isTried && (
        <section aria-label="What the rules say">
          <KeyValue
            items={keys.map(key => ({
              key: keyName(key),
              value: <Said {...{ keyOf: key, tags, rules, renames }} />,
            }))}
          />
          {late.length > 0 && (
            <p className="border-t px-4 py-2 text-ink-2 text-sm">
              {late.map(rule => `Rule ${rule + 1}`).join(', ')} matched too, after everything was said.
            </p>
          )}
        </section>
      )}
    </Card>
  )
}

type SaidProps = {
  keyOf: string
  tags: ReturnType<typeof decidedByRules>['tags']
  rules: Props['rules']
  renames: RenameMap
}

function Said({ keyOf, tags, rules, renames }: SaidProps) {
  const said = tags[keyOf]
  if (!said) return <span className="text-ink-3">unattributed: no rule that sets it matches</span>
  const now = renamedValue(renames, keyOf, said.value)
  return (
    <>
      <bdi className="font-medium">{now}</bdi>
      {now !== said.value && <span className="text-ink-3"> ({said.value}, renamed)</span>}
      <div className="text-ink-3 text-xs [overflow-wrap:anywhere]">
        by rule {said.rule + 1}: {whenWords(rules[said.rule]!.when)}
      </div>
    </>
  )
}

function factsOf(tried: Tried, machines: readonly SelectOption[], members: readonly SelectOption[]): SessionFacts {
  const { repository, directory, machine, member, environment } = tried
  const at = environment?.indexOf('=') ?? -1
  const named = (options: readonly SelectOption[], id: string | undefined) => {
    const found = options.find(({ value }) => value === id)
    return found ? [found.value, found.label] : undefined
  }
  const [machineNames, memberNames] = [named(machines, machine), named(members, member)]
  return {
    ...(repository ? { repository: repositoryNames(repository) } : {}),
    ...(directory ? { directory: directoryNames(directory) } : {}),
    ...(machineNames ? { machine: machineNames } : {}),
    ...(memberNames ? { member: memberNames } : {}),
    ...(at > 0 ? { environment: { [environment!.slice(0, at)]: environment!.slice(at + 1) } } : {}),
  }
}

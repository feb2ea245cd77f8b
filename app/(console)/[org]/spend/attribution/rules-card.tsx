'use client'

import { ArrowDown, ArrowUp, ListOrdered, Pencil, Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { Button } from '#app/_ui/button.tsx'
import { Card } from '#app/_ui/card.tsx'
import { EmptyState } from '#app/_ui/empty-state.tsx'
import { IconButton } from '#app/_ui/icon-button.tsx'
import { Name } from '#app/_ui/name.tsx'
import { Table } from '#app/_ui/table.tsx'
import type { SpendEdit } from '#core/rules/spend-edit.ts'
import { CsvLink } from '../../csv-link.tsx'
import type { AttributionInForce } from '../../outputs.ts'
import type { Base } from '../edit-review.tsx'
import { SpendEditReview } from '../spend-edit-review.tsx'
import { CONDITION_NAMES, keyName } from './words.ts'

type Rule = AttributionInForce['rules'][number]
type Props = {
  org: string
  rules: readonly Rule[]
  base: Base
  mayEdit: boolean
  /** Names of members by id: the rules name ids. */
  people: Readonly<Record<string, string>>
}
type Asked = { edit: SpendEdit; title: string; description: string; danger?: boolean }

/** The rules in the order in which they are tried. */
export function RulesCard({ org, rules, base: current, mayEdit, people }: Props) {
  const [base, setBase] = useState(current)
  const [asked, setAsked] = useState<Asked>()
  // What is in force has moved on: the page was loaded anew.
  if (base.version < current.version) setBase(current)
  const move = (rule: Rule, to: number) =>
    setAsked({
      edit: { kind: 'move_attribution', at: { index: rule.index, was: rule.was }, to },
      title: `Move rule ${rule.index + 1} to place ${to + 1}?`,
      description: 'Of each tag the first rule that matches decides, so the order is part of what they say.',
    })
  return (
    <Card
      title="Attribution rules"
      sub="of each tag the first that matches decides"
      aside={
        <>
          <CsvLink org={org} list="attribution-rules" />
          {mayEdit && (
            <Button size="sm" href={`/${org}/spend/edit-attribution`} icon={<Plus aria-hidden />}>
              Add a rule
            </Button>
          )}
        </>
      }
      note={
        rules.length > 0 &&
        'What a person sets for a run or in a repository’s .holdpoint.yaml comes before these rules. A new order counts for what is used from then on.'
      }
    >
      <Table
        caption="Attribution rules"
        rows={rules}
        rowKey={({ index }) => String(index)}
        empty={
          <EmptyState
            headingLevel={3}
            icon={<ListOrdered aria-hidden />}
            title="No rule says whose usage is whose"
            action={
              mayEdit ? (
                <Button href={`/${org}/spend/edit-attribution`} variant="primary">
                  Add the first rule
                </Button>
              ) : undefined
            }
          >
            A rule maps a repository, folder, machine or person to a tenant, a project or another tag. Without one,
            usage is unattributed unless a person says it.
          </EmptyState>
        }
        columns={[
          { key: 'place', head: 'Place', className: 'w-12 tabular-nums', cell: ({ index }) => index + 1 },
          {
            key: 'when',
            head: 'Where all of this holds',
            cell: ({ when }) => (
              <ul>
                {Object.entries(when).map(([condition, pattern]) => (
                  <li key={condition}>
                    <span className="text-ink-3 text-xs">
                      {CONDITION_NAMES[condition as keyof typeof CONDITION_NAMES]}
                    </span>{' '}
                    {condition === 'member' && people[pattern] && <Name inTable>{people[pattern]}</Name>}{' '}
                    <code className="[overflow-wrap:anywhere]">{pattern}</code>
                  </li>
                ))}
              </ul>
            ),
          },
          {
            key: 'set',
            head: 'Usage belongs to',
            cell: ({ set }) => (
              <ul>
                {Object.entries(set).map(([key, value]) => (
                  <li key={key}>
                    <span className="text-ink-3 text-xs">{keyName(key)}</span> <Name inTable>{value}</Name>
                  </li>
                ))}
              </ul>
            ),
          },
          {
            key: 'acts',
            head: 'What to do',
            hideHead: true,
            className: 'text-right',
            cell: rule =>
              mayEdit ? (
                <div className="flex justify-end gap-1">
                  <IconButton
                    size="sm"
                    label={`Move rule ${rule.index + 1} up`}
                    icon={<ArrowUp aria-hidden />}
                    disabled={rule.index === 0}
                    onClick={() => move(rule, rule.index - 1)}
                  />
                  <IconButton
                    size="sm"
                    label={`Move rule ${rule.index + 1} down`}
                    icon={<ArrowDown aria-hidden />}
                    disabled={rule.index === rules.length - 1}
                    onClick={() => move(rule, rule.index + 1)}
                  />
                  <Button
                    size="sm"
                    variant="ghost"
                    className="px-1.5"
                    href={`/${org}/spend/edit-attribution?index=${rule.index}`}
                    aria-label={`Change rule ${rule.index + 1}`}
                    icon={<Pencil aria-hidden />}
                  />
                  <IconButton
                    size="sm"
                    label={`Remove rule ${rule.index + 1}`}
                    icon={<Trash2 aria-hidden />}
                    onClick={() =>
                      setAsked({
                        edit: { kind: 'remove_attribution', at: { index: rule.index, was: rule.was } },
                        title: `Remove rule ${rule.index + 1}?`,
                        description:
                          'Later usage that it matched falls to the next rule, or is unattributed. What was recorded stays.',
                        danger: true,
                      })
                    }
                  />
                </div>
              ) : null,
          },
        ]}
      />
      {asked && (
        <SpendEditReview
          org={org}
          base={base}
          {...asked}
          confirmLabel={asked.danger ? 'Sign and remove' : 'Sign and publish'}
          onBase={setBase}
          onClose={() => setAsked(undefined)}
          onDone={() => setAsked(undefined)}
        />
      )}
    </Card>
  )
}

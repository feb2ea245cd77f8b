import { Card } from '#app/_ui/card.tsx'
import { KeyValue } from '#app/_ui/key-value.tsx'
import { monthWords } from '#core/day.ts'
import { AllocationDialog } from './allocation-dialog.tsx'
import { ContactDialog } from './contact-dialog.tsx'
import type { Reader } from './month-card.tsx'
import { SetUpDialog } from './set-up-dialog.tsx'
import { basisWords, type StatementList } from './words.ts'

type Props = {
  org: string
  list: StatementList
  reader: Reader
  lists: readonly { key: string; values: readonly string[] }[]
}

/** What drafts are drawn up by, and whom they are mailed to. */
export function ArrangeCard({ org, list, reader, lists }: Props) {
  const { rules, basis, firstMonth, fixed } = list.setting
  const months = list.months.map(({ month }) => month)
  const untagged = rules.find(({ key }) => key === '')
  const tagged = rules.filter(({ key }) => key !== '')
  const used = new Set(tagged.map(({ key, value }) => `${key} ${value}`))
  const offered = lists.flatMap(({ key, values }) =>
    values.filter(value => !used.has(`${key} ${value}`)).map(value => ({ key, value })),
  )
  const common = { org, months, basis, tenants: list.tenants }
  const edit = (rule: (typeof rules)[number] | undefined) => (
    <AllocationDialog {...common} edited={rule ?? { key: '', value: '', rule: { kind: 'none' } }} />
  )
  const row = (words: string, action: React.ReactNode) => (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
      <span className="min-w-0 flex-1">{words}</span>
      {reader.mayArrange && action}
    </div>
  )
  return (
    <Card
      title="How drafts are drawn up"
      note="A change holds for months that nothing is closed of. A month keeps what it was first closed by, so that late changes never share it anew."
    >
      <KeyValue
        items={[
          {
            key: 'They count',
            value: row(
              `${basisWords(basis)}${firstMonth ? `, from ${monthWords(firstMonth)} on` : ''}`,
              !fixed && <SetUpDialog {...{ org, basis, firstMonth, months }} />,
            ),
          },
          {
            key: 'unattributed',
            label: 'What no tenant is found for',
            value: row(untagged?.words ?? 'not allocated', edit(untagged)),
          },
          ...tagged.map(rule => ({
            key: `${rule.key} ${rule.value}`,
            label: (
              <>
                What is of {rule.key} <code>{rule.value}</code>
              </>
            ),
            value: row(rule.words, edit(rule)),
          })),
          ...(reader.mayArrange && offered.length > 0 && months.length > 0
            ? [
                {
                  key: 'more',
                  label: 'Shared by all',
                  value: row(
                    'A team or project that works for every tenant can be spread in the same way.',
                    <AllocationDialog {...common} offered={offered} />,
                  ),
                },
              ]
            : []),
          ...list.tenants.map(tenant => ({
            key: `tenant ${tenant.key}`,
            label: (
              <>
                Tenant <code>{tenant.key}</code>
              </>
            ),
            value: row(
              `${tenant.name}: ${tenant.contact === null ? 'nobody is mailed' : `mailed to ${tenant.contact}`}`,
              <ContactDialog {...{ org, tenant }} />,
            ),
          })),
        ]}
      />
    </Card>
  )
}

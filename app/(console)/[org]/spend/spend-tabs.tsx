import { TabLinks } from '#app/_ui/tabs.tsx'

/** What there is of spend. */
export function SpendTabs({ org, current }: { org: string; current: 'chargeback' | 'budgets' }) {
  const base = `/${org}/spend`
  return (
    <TabLinks
      label="Spend"
      tabs={[
        { href: base, label: 'Chargeback', current: current === 'chargeback' },
        { href: `${base}/budgets`, label: 'Budgets', current: current === 'budgets' },
      ]}
    />
  )
}

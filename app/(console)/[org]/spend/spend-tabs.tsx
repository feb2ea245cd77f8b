import { TabLinks } from '#app/_ui/tabs.tsx'

/** What there is of spend, in the order in which it is asked for: what was spent, what may be, and what both are reckoned by. */
const TABS = [
  { current: 'chargeback', path: '', label: 'Chargeback' },
  { current: 'budgets', path: '/budgets', label: 'Budgets' },
  { current: 'statements', path: '/statements', label: 'Statements' },
  { current: 'invoices', path: '/invoices', label: 'Invoices' },
  { current: 'rates', path: '/rates', label: 'Rates' },
  { current: 'currency', path: '/currency', label: 'Currency' },
  { current: 'attribution', path: '/attribution', label: 'Attribution' },
] as const
export type SpendTab = (typeof TABS)[number]['current']

export function SpendTabs({ org, current }: { org: string; current: SpendTab }) {
  return (
    <TabLinks
      label="Spend"
      tabs={TABS.map(tab => ({ href: `/${org}/spend${tab.path}`, label: tab.label, current: tab.current === current }))}
    />
  )
}

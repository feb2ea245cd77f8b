import { Download } from 'lucide-react'
import { Button } from '#app/_ui/button.tsx'

/** The lists that are files too: each has a door of its name below /api/export. */
type ExportedList =
  | 'approvals'
  | 'attribution-rules'
  | 'audit'
  | 'budget-stops'
  | 'budgets'
  | 'exchange-rates'
  | 'figures-grants'
  | 'invoice'
  | 'invoices'
  | 'keys'
  | 'machines'
  | 'members'
  | 'own-prices'
  | 'rate-card'
  | 'reprice-preview'
  | 'rule-sets'
  | 'spend'
  | 'statement'
  | 'statements'
  | 'tag-values'
  | 'tenants'
  | 'tokens'
  | 'unattributed'
  | 'unlisted'
  | 'unpriced-models'

type Props = {
  org: string
  list: ExportedList
  /** Pairs where a name stands more than once. */
  query?: Record<string, string> | [string, string][]
}

/** The list of a page as a file, narrowed as the page is. */
export function CsvLink({ org, list, query }: Props) {
  return (
    <Button
      href={`/api/export/${list}?${new URLSearchParams([['org', org], ...(Array.isArray(query) ? query : Object.entries(query ?? {}))])}`}
      prefetch={false}
      download
      icon={<Download aria-hidden />}
    >
      CSV
    </Button>
  )
}

import { Download } from 'lucide-react'
import { Button } from '#app/_ui/button.tsx'

type Props = {
  org: string
  list: 'audit' | 'members' | 'machines' | 'approvals' | 'rule-sets' | 'spend'
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

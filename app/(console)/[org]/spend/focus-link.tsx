import { Download } from 'lucide-react'
import { Button } from '#app/_ui/button.tsx'
import { FOCUS_DAYS_MAX } from '#core/limits.ts'
import { type DayPeriod, startsOf } from './period.ts'

/** The same days as a FOCUS file: all usage, whatever the page is narrowed to. Nothing for more days than one file may have. */
export function FocusLink({ org, period }: { org: string; period: DayPeriod }) {
  if (startsOf(period, 'day').length > FOCUS_DAYS_MAX) return null
  return (
    <Button
      href={`/api/export/focus?${new URLSearchParams({ org, ...period })}`}
      prefetch={false}
      download
      icon={<Download aria-hidden />}
      title="All usage of these days (UTC) as FOCUS 1.2, for cost tools: a row for each day, model, kind of token and set of tags"
    >
      FOCUS
    </Button>
  )
}

import { formatDuration, formatPlural } from '#app/_ui/format.ts'

const HOUR_S = 3600

/** An age as people say it: whole days, else whole hours, else its two greatest units. */
export function ageWords(seconds: number): string {
  if (seconds % (24 * HOUR_S) === 0) return formatPlural(seconds / (24 * HOUR_S), 'day')
  return seconds % HOUR_S === 0 ? formatPlural(seconds / HOUR_S, 'hour') : formatDuration(seconds * 1000)
}

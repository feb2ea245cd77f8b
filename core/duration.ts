const UNIT_SECONDS = { s: 1, m: 60, h: 3600, d: 86_400 } as const

/**
 * Seconds in a duration such as `45s`, `5m`, `1h`, `1h30m` or `1d`: whole numbers, largest unit first, each unit once.
 * Undefined for anything else, zero included.
 */
export function parseDuration(text: string): number | undefined {
  const match = /^(?:(\d{1,5})d)?(?:(\d{1,5})h)?(?:(\d{1,5})m)?(?:(\d{1,6})s)?$/.exec(text)
  if (!match) return undefined
  const [, d = '0', h = '0', m = '0', s = '0'] = match
  const seconds = Number(d) * UNIT_SECONDS.d + Number(h) * UNIT_SECONDS.h + Number(m) * UNIT_SECONDS.m + Number(s)
  return seconds > 0 ? seconds : undefined
}

/** The one spelling of a number of whole seconds: `3600` is `1h`, `5400` is `1h30m`, `86400` is `24h`. */
export function formatDuration(seconds: number): string {
  const h = Math.floor(seconds / UNIT_SECONDS.h)
  const m = Math.floor((seconds % UNIT_SECONDS.h) / UNIT_SECONDS.m)
  const s = seconds % UNIT_SECONDS.m
  const text = `${h > 0 ? `${h}h` : ''}${m > 0 ? `${m}m` : ''}${s > 0 ? `${s}s` : ''}`
  return text === '' ? '0s' : text
}

/** The same in words, for people: `1 hour 30 minutes`. */
export function describeDuration(seconds: number): string {
  const part = (n: number, word: string) => (n === 0 ? [] : [`${n} ${word}${n === 1 ? '' : 's'}`])
  const words = [
    ...part(Math.floor(seconds / UNIT_SECONDS.h), 'hour'),
    ...part(Math.floor((seconds % UNIT_SECONDS.h) / UNIT_SECONDS.m), 'minute'),
    ...part(seconds % UNIT_SECONDS.m, 'second'),
  ]
  return words.length === 0 ? '0 seconds' : words.join(' ')
}

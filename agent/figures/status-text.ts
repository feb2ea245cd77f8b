/** One line for a status line. For the program that the client starts too: no module is loaded. */

export type StatusParts = {
  /** The session's at list price. */
  costUsd?: number
  windows: readonly { name: string; leftPct: number }[]
  waiting: number
  /** Some of the cost is the bound for models without a price. */
  isBound: boolean
  /** What is wrong, before everything else. */
  trouble?: string
}

/** `holdpoint: $0.15 · 5h 58 % left · week 83 % left · 2 waiting · rate=fallback`; what is not known is left out. */
export function statusText({ costUsd, windows, waiting, isBound, trouble }: StatusParts): string {
  const parts = [
    ...(trouble === undefined ? [] : [trouble]),
    ...(costUsd === undefined ? [] : [`$${costUsd.toFixed(2)}`]),
    // down, so that 1 % is shown only where there is as much
    ...windows.map(({ name, leftPct }) => `${name} ${Math.floor(leftPct)} % left`),
    ...(waiting > 0 ? [`${waiting} waiting`] : []),
    ...(isBound ? ['rate=fallback'] : []),
  ]
  return parts.length > 0 ? `holdpoint: ${parts.join(' · ')}` : 'holdpoint'
}

import { currencySign } from '#core/spend/round.ts'

/** Marks of an axis of money: from nought to at least `most`, some four even steps of round figures. */
export function axisMarks(most: number): number[] {
  if (!(most > 0)) return [0, 1]
  const rough = most / 4
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 2.5, 5, 10].map(one => one * power).find(one => one >= rough)!
  return Array.from({ length: Math.ceil(most / step - 1e-9) + 1 }, (_, i) => i * step)
}

/** `$0`, `$2.50`, `-€1,200`, `CHF 0.004`: as many places as the step between marks needs. */
export function axisText(mark: number, step: number, currency: string): string {
  const places = Number.isInteger(step) ? 0 : Math.min(12, Math.max(2, Math.ceil(-Math.log10(step)) + 1))
  return `${mark < 0 ? '-' : ''}${currencySign(currency)}${Math.abs(mark).toLocaleString('en-US', { minimumFractionDigits: places, maximumFractionDigits: places })}`
}

/** Which of so many marks below an axis are written: about eight at a desk, every other of them on a phone. */
export function writtenMarks(count: number): {
  every: number
  isWritten: (i: number) => boolean
  isNarrow: (i: number) => boolean
} {
  const every = Math.max(1, Math.ceil(count / 8))
  return { every, isWritten: i => i % every === 0, isNarrow: i => (i / every) % 2 === 0 }
}

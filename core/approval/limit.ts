import { thresholdText } from '#core/boundary/describe.ts'
import { ruleFromJson } from '#core/boundary/rule.ts'
import type { CrossedFigure } from './request.ts'

/** Where the rules of a request, kept as they were published, hold a crossed figure: `$20.00 or more`. */
export function limitText(
  rules: readonly { text: unknown }[],
  figure: Pick<CrossedFigure, 'name' | 'qualifier'>,
): string | undefined {
  for (const rule of rules) {
    const read = ruleFromJson(rule.text)
    const condition = read.ok && read.rule.when.find(c => c.figure === figure.name && c.qualifier === figure.qualifier)
    if (condition) return thresholdText(condition.figure, condition.op, condition.value)
  }
  return undefined
}

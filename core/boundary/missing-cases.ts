import { proposeCases } from './propose-cases.ts'
import { type BoundaryCase, isUnsupported, type Rule, requirementText, type UnsupportedRule } from './shape.ts'

/**
 * The cases at the edges of rules that nobody has written: proposed ones, without those that a case has already, under
 * whatever name. A rule that this reader cannot read has no edges here.
 */
export function missingCases(
  rules: readonly (Rule | UnsupportedRule)[],
  cases: readonly BoundaryCase[],
): BoundaryCase[] {
  return rules.flatMap(rule =>
    isUnsupported(rule)
      ? []
      : proposeCases(rule).filter(proposed => !cases.some(written => isSameCall(written, proposed, rule.name))),
  )
}

function isSameCall(written: BoundaryCase, proposed: BoundaryCase, rule: string): boolean {
  return (
    (written.rule === undefined || written.rule === rule) &&
    written.action === proposed.action &&
    written.tenant === proposed.tenant &&
    written.project === proposed.project &&
    written.machine === proposed.machine &&
    requirementText(written.expect) === requirementText(proposed.expect) &&
    figuresText(written) === figuresText(proposed)
  )
}

const figuresText = ({ figures }: BoundaryCase): string =>
  figures
    .map(({ figure, qualifier, value }) => `${figure} ${qualifier ?? ''} ${value}`)
    .sort()
    .join('\n')

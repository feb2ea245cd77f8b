'use client'

import { formatPercent } from '#app/_ui/format.ts'
import { Pill } from '#app/_ui/pill.tsx'
import { ProgressBar } from '#app/_ui/progress-bar.tsx'
import { type Budget, moneyOf, type Share, standing } from './words.ts'

/** How far a budget is used: a bar with its steps, the amounts in words, and the step that is past. */
export function UseCell({ budget, share }: { budget: Budget; share: Share }) {
  const { tone, words } = standing(share)
  return (
    <div className="grid min-w-0 gap-1 @max-[35rem]:w-52">
      <div className="flex flex-wrap items-baseline justify-between gap-x-3 gap-y-0.5 text-xs">
        <span className="tabular-nums">
          <span className="font-medium text-base">{moneyOf(share.used, budget.currency)}</span>{' '}
          <span className="text-ink-3">of {moneyOf(budget.amount, budget.currency)}</span>
        </span>
        <span className="tabular-nums">{formatPercent(share.usedPct / 100)}</span>
      </div>
      <div className="relative">
        <ProgressBar
          label={`${budget.name}${share.label ? `, ${share.label}` : ''}: used`}
          fraction={share.usedPct / 100}
          tone={tone}
          valueText={`${formatPercent(share.usedPct / 100)}, ${words}`}
        />
        <svg aria-hidden className="absolute inset-x-0 top-0 h-1.5 w-full">
          {share.steps
            .filter(({ step }) => step > 0 && step < 100)
            .map(({ step }) => (
              <rect key={step} x={`${step}%`} width="2" height="100%" className="fill-panel" />
            ))}
        </svg>
      </div>
    </div>
  )
}

/** The step that is past, as a state. */
export function StepPill({ share }: { share: Share }) {
  const { tone, words } = standing(share)
  return <Pill state={tone === 'held' ? 'held' : tone === 'waiting' ? 'waiting' : 'neutral'}>{words}</Pill>
}

import { CircleCheck, CircleDashed } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button } from '#app/_ui/button.tsx'
import { Card } from '#app/_ui/card.tsx'
import type { Right } from '#core/permission.ts'
import type { Overview } from './outputs.ts'

/** Why somebody else is needed, by what the organisation has set for own requests. */
const SELF_WORDS: Record<Overview['setup']['selfAnswer'], string> = {
  never: 'Nobody answers their own requests here: a rule with an approver needs a second person with the role.',
  account:
    'Whoever holds the role may answer their own requests here, after signing in with an account of their own. A second person makes it a second look.',
  key: 'One’s own requests take an approval key here: a rule with an approver needs a second person with the role.',
}

type Props = { org: string; setup: Overview['setup']; rights: readonly Right[] }

/** What is still missing before the product does its work, and the one thing to do next. Goes away by itself. */
export function SetupCard({ org, setup, rights }: Props) {
  const steps: Step[] = [
    {
      done: setup.hasRules,
      title: 'Publish a first rule',
      text: 'In shadow: it is recorded at every call and stops nobody. Move it to enforce once you have seen what it would do.',
      href: `/${org}/boundaries`,
      act: 'Write a rule',
      who: rights.includes('boundary.publish') ? undefined : 'An admin does this.',
    },
    {
      done: setup.hasMachine,
      title: 'Add a machine',
      text: 'One line to paste on a developer’s machine. It downloads the connector, checks it, and pins your organisation’s keys.',
      href: `/${org}/machines?add`,
      act: 'Add a machine',
      who: rights.includes('machine.add') ? undefined : 'Sign in with your own account to do this.',
    },
    {
      done: setup.hasMembers,
      title: 'Invite somebody who can answer',
      text: SELF_WORDS[setup.selfAnswer],
      href: `/${org}/members`,
      act: 'Invite a member',
      who: rights.includes('member.invite') ? undefined : 'An admin does this.',
    },
  ]
  const next = steps.find(step => !step.done && step.who === undefined)
  return (
    <Card title="Getting started" aside={`${steps.filter(step => step.done).length} of ${steps.length} done`}>
      <ol>
        {steps.map(step => (
          <StepRow key={step.title} step={step} isNext={step === next} />
        ))}
      </ol>
    </Card>
  )
}

type Step = { done: boolean; title: string; text: string; href: string; act: string; who?: string }

function StepRow({ step, isNext }: { step: Step; isNext: boolean }): ReactNode {
  return (
    <li className="flex flex-wrap items-start gap-x-4 gap-y-2 border-b px-4 py-3 last:border-b-0 sm:items-center">
      {step.done ? (
        <CircleCheck aria-hidden className="size-5 text-passed" />
      ) : (
        <CircleDashed aria-hidden className="size-5 text-ink-3" />
      )}
      <div className="min-w-0 flex-1 basis-52">
        <p className={step.done ? 'text-ink-3' : 'font-medium'}>
          {step.title}
          <span className="sr-only">{step.done ? ': done' : ': to do'}</span>
        </p>
        {!step.done && <p className="text-pretty text-ink-2 text-sm">{step.text}</p>}
      </div>
      {!step.done &&
        (step.who ? (
          <span className="text-ink-3 text-xs max-sm:ml-9">{step.who}</span>
        ) : (
          <Button href={step.href} className="max-sm:ml-9" variant={isNext ? 'primary' : 'secondary'}>
            {step.act}
          </Button>
        ))}
    </li>
  )
}

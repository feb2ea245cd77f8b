'use client'

import { useQuery } from '@tanstack/react-query'
import Link from 'next/link'
import { useState } from 'react'
import { useTRPC } from '#app/_client/trpc.tsx'
import { Banner } from '#app/_ui/banner.tsx'
import { Button } from '#app/_ui/button.tsx'
import { CodeLine } from '#app/_ui/code-line.tsx'
import { useNow } from '#app/_ui/now.ts'
import { Pill } from '#app/_ui/pill.tsx'
import { SegmentedControl } from '#app/_ui/segmented-control.tsx'
import { Countdown } from '#app/_ui/time.tsx'
import type { JoinLine } from '../outputs.ts'

type Props = { org: string; line: JoinLine; known: readonly string[]; onAgain: () => void }

/** What to do with a join line, step by step; says when the machine is there. */
export function JoinSteps({ org, line, known, onAgain }: Props) {
  const [shell, setShell] = useState<'posix' | 'powershell'>('posix')
  const pasted =
    (shell === 'posix' ? line.line : line.powershell) ??
    `holdpoint join '${line.url}'${line.label ? ` --label ${line.label}` : ''}`
  // The folder is on nobody's PATH yet; the connector says how to put it there.
  const program = shell === 'posix' ? '~/.holdpoint/bin/holdpoint' : '& "$HOME\\.holdpoint\\bin\\holdpoint.cmd"'
  return (
    <div className="grid gap-5">
      <Arrival org={org} line={line} known={known} onAgain={onAgain} />
      {line.problem && (
        <Banner kind="stale" title="There is nothing to download here.">
          {line.problem}
        </Banner>
      )}
      <ol className="grid gap-5">
        <Step number={1} title="Paste this into a terminal on the machine">
          {line.line && line.powershell && (
            <SegmentedControl
              label="Shell"
              value={shell}
              onChange={setShell}
              segments={[
                { value: 'posix', label: 'macOS, Linux' },
                { value: 'powershell', label: 'Windows' },
              ]}
            />
          )}
          <CodeLine text={pasted} label="Copy the line" />
          <p className="text-ink-2 text-sm">
            It downloads the connector from this server, refuses it unless its SHA-256 is{' '}
            {line.sha256 ? <code>{line.sha256.slice(0, 16)}…</code> : 'the one in the line'}, installs it below{' '}
            <code>~/.holdpoint</code> and joins. Node 20.19 or newer must be there. Treat the line like a password until
            it has been used.
          </p>
        </Step>
        <Step number={2} title="Wire the agents">
          <CodeLine command={shell === 'posix'} text={`${program} hooks install`} />
          <p className="text-ink-2 text-sm">
            Adds the hook to Claude Code, keeps what others put there, and proves itself with a test call.
          </p>
        </Step>
        <Step number={3} title="Start the daemon">
          <CodeLine command={shell === 'posix'} text={`${program} daemon start`} />
          <p className="text-ink-2 text-sm">
            It fetches the signed rules, checks them at every read, and decides. The hook starts it again when it is
            down.
          </p>
        </Step>
      </ol>
      <section className="rounded-md border bg-raised px-4 py-3">
        <h3 className="text-sm">The digest that the machine pins</h3>
        <CodeLine className="mt-2 bg-panel" text={line.rootDigest} label="Copy the digest" />
        <p className="mt-2 text-pretty text-ink-2 text-sm">
          It names the root document with your organisation’s keys, and stands in the line so that the machine checks
          even the first thing it fetches. This page is the control plane itself: whoever holds it could show another
          digest. If you must not take its word, compare the digest with one that a colleague reads to you, or that you
          wrote down at another time. <code>holdpoint team status</code> shows it on every machine.
        </p>
      </section>
    </div>
  )
}

function Step({ number, title, children }: { number: number; title: string; children: React.ReactNode }) {
  return (
    <li className="grid grid-cols-[1.5rem_minmax(0,1fr)] gap-x-2.5">
      <span
        aria-hidden
        className="grid size-6 place-items-center rounded-full border border-line-strong font-medium text-ink-2 text-xs"
      >
        {number}
      </span>
      <div className="grid min-w-0 gap-2">
        <h3 className="pt-0.5 text-sm">{title}</h3>
        {children}
      </div>
    </li>
  )
}

/** Looks every few seconds whether a machine of this member is there that was not before. */
function Arrival({ org, line, known, onAgain }: Props) {
  const expired = useNow(1000).getTime() >= new Date(line.expiresAt).getTime()
  const { data } = useQuery(useTRPC().machine.list.queryOptions({ org }, { refetchInterval: 3000, staleTime: 0 }))
  const arrived = data?.find(machine => machine.member.id === line.member.id && !known.includes(machine.id))
  return (
    <div role="status" className="flex flex-wrap items-center gap-2">
      {arrived ? (
        <>
          <Pill state="passed">joined</Pill>
          <span>
            <Link className="link" href={`/${org}/machines/${arrived.id}`}>
              {arrived.label}
            </Link>{' '}
            is here{arrived.hooks.length > 0 ? ' and its agents are wired.' : '. Go on with step 2.'}
          </span>
        </>
      ) : expired ? (
        <>
          <Pill state="neutral">ended</Pill>
          <span>The line was not used in time.</span>
          <Button size="sm" onClick={onAgain}>
            Make another
          </Button>
        </>
      ) : (
        <>
          <Pill state="waiting">waiting for the machine</Pill>
          <span className="text-ink-3 text-xs">
            <Countdown until={line.expiresAt} />
          </span>
        </>
      )}
    </div>
  )
}

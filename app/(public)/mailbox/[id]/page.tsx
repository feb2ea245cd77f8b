import { ChevronLeft, Paperclip } from 'lucide-react'
import type { Metadata } from 'next'
import Link from 'next/link'
import { notFound } from 'next/navigation'
import { Banner } from '#app/_ui/banner.tsx'
import { CopyButton } from '#app/_ui/copy-button.tsx'
import { Disclosure } from '#app/_ui/disclosure.tsx'
import { KeyValue } from '#app/_ui/key-value.tsx'
import { Time } from '#app/_ui/time.tsx'
import { api } from '#server/api/caller.ts'
import { mayReadDemoMail } from '#server/auth/current.ts'
import { env } from '#server/env.ts'
import { Frame } from '../../frame.tsx'
import { mailParts, ownPath } from '../mail-parts.ts'

export const metadata: Metadata = { title: 'Demo mail' }

export default async function MailPage({ params }: { params: Promise<{ id: string }> }) {
  if (!(await mayReadDemoMail())) notFound()
  const { id } = await params
  const mail = await (await api()).session.mail({ id: decodeURIComponent(id).slice(0, 200) })
  if (!mail) notFound()
  const { publicUrl } = env()
  return (
    <Frame
      wide
      title={mail.subject}
      notice={
        <Banner kind="demo" title="Demo mode separates nobody on this machine.">
          Real mail would have gone to {mail.to} only.
        </Banner>
      }
    >
      <KeyValue
        className="-mx-4 border-y"
        items={[
          {
            key: 'To',
            value: (
              <Link className="link" href={`/mailbox?to=${encodeURIComponent(mail.to)}`}>
                {mail.to}
              </Link>
            ),
          },
          { key: 'Sent', value: <Time at={mail.at} seconds /> },
        ]}
      />
      <div className="min-w-0 whitespace-pre-wrap break-words leading-6">
        {mailParts(mail.text).map((part, index) => {
          const key = `${index}`
          if (part.kind === 'words') return <span key={key}>{part.text}</span>
          if (part.kind === 'code') return <Code key={key} code={part.text.trim()} />
          const path = ownPath(part.text, publicUrl)
          return path ? (
            <Link key={key} className="link break-all" href={path} prefetch={false}>
              {part.text}
            </Link>
          ) : (
            <span key={key} className="break-all">
              {part.text}
            </span>
          )
        })}
      </div>
      {mail.files.map(file => (
        <Disclosure
          key={file.name}
          className="-mx-4 border-y"
          summary={
            <>
              <Paperclip aria-hidden className="size-4 text-ink-3" />
              {file.name}
            </>
          }
        >
          <pre className="overflow-x-auto px-4 py-3 text-code">{file.text}</pre>
        </Disclosure>
      ))}
      <p>
        <Link className="inline-flex items-center gap-1 text-ink-2 hover:text-ink" href="/mailbox">
          <ChevronLeft aria-hidden className="size-4" />
          All mail
        </Link>
      </p>
    </Frame>
  )
}

function Code({ code }: { code: string }) {
  return (
    <span className="inline-flex items-center gap-3 rounded-md border bg-raised py-1 pr-1 pl-3">
      <code className="select-all font-semibold text-2xl tracking-[0.2em]" data-code>
        {code}
      </code>
      <CopyButton text={code} iconOnly label="Copy code" />
    </span>
  )
}

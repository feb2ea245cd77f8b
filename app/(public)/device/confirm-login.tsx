'use client'

import { useMutation } from '@tanstack/react-query'
import { CircleCheck, CircleSlash, Laptop } from 'lucide-react'
import { useState } from 'react'
import { useTRPC } from '#app/_client/trpc.tsx'
import { Banner } from '#app/_ui/banner.tsx'
import { Button } from '#app/_ui/button.tsx'
import { EmptyState } from '#app/_ui/empty-state.tsx'
import { Field } from '#app/_ui/field.tsx'
import { KeyValue } from '#app/_ui/key-value.tsx'
import { TextInput } from '#app/_ui/text-input.tsx'
import { Countdown } from '#app/_ui/time.tsx'
import { isWholeUserCode, spellUserCode } from './user-code.ts'

/** Type the code, see which machine asks for what, allow it or refuse. */
export function ConfirmLogin({ again }: { again: string }) {
  const trpc = useTRPC()
  const [code, setCode] = useState('')
  const find = useMutation(trpc.adminLogin.get.mutationOptions())
  const answer = useMutation(trpc.adminLogin.confirm.mutationOptions())
  const login = find.data
  if (answer.isSuccess) {
    return answer.variables.allow ? (
      <EmptyState
        className="py-4"
        icon={<CircleCheck aria-hidden className="text-passed" />}
        title="Allowed"
        headingLevel={2}
      >
        <p role="status">
          Go back to the terminal: the command goes on by itself. The credential ends after twelve hours; you can end it
          sooner in the settings.
        </p>
      </EmptyState>
    ) : (
      <EmptyState className="py-4" icon={<CircleSlash aria-hidden />} title="Refused" headingLevel={2}>
        <p role="status">
          The command gets nothing. If you did not start it, somebody has shown you their code: tell your admins.
        </p>
      </EmptyState>
    )
  }
  if (!login) {
    return (
      <form
        className="grid gap-4"
        onSubmit={event => {
          event.preventDefault()
          if (isWholeUserCode(code)) find.mutate({ userCode: code })
        }}
      >
        <Field
          label="Code from the terminal"
          hint="Eight letters; upper or lower case is the same"
          error={find.error?.message}
          required
        >
          <TextInput
            value={code}
            onChange={event => setCode(spellUserCode(event.target.value))}
            placeholder="BCDF-GHJK"
            autoComplete="off"
            autoCapitalize="characters"
            spellCheck={false}
            mono
            autoFocus
            className="min-h-11 text-center text-2xl tracking-[0.2em]"
          />
        </Field>
        <Button type="submit" variant="primary" size="lg" loading={find.isPending} disabled={!isWholeUserCode(code)}>
          Look it up
        </Button>
      </form>
    )
  }
  const send = (allow: boolean) => answer.mutate({ userCode: code, allow })
  const busy = (allow: boolean) => answer.isPending && answer.variables.allow === allow
  return (
    <div className="grid gap-4">
      <KeyValue
        className="-mx-4 border-y"
        items={[
          {
            key: 'Machine',
            value: (
              <span className="inline-flex items-center gap-2">
                <Laptop aria-hidden className="size-4 text-ink-3" />
                <strong className="font-semibold">{login.label}</strong>
              </span>
            ),
          },
          { key: 'Code', value: <code>{code}</code> },
          { key: 'It asks for', value: 'A credential in your name for twelve hours.' },
          { key: 'With it', value: 'Publish boundaries, and answer requests of other people.' },
          { key: 'Not with it', value: 'Answer your own requests, invite, change members, settings or keys.' },
          { key: 'Waits', value: <Countdown until={login.expiresAt} /> },
        ]}
      />
      {answer.error && <Banner kind="problem" title={answer.error.message} />}
      {!login.freshEnough && (
        <Banner
          kind="stale"
          title="Your sign-in is older than ten minutes."
          action={
            <Button size="sm" href={again}>
              Sign in again
            </Button>
          }
        >
          Allowing takes a fresh one. You then type the code once more.
        </Banner>
      )}
      <div className="flex flex-wrap gap-2">
        <Button
          variant="primary"
          disabled={!login.freshEnough || answer.isPending}
          loading={busy(true)}
          onClick={() => send(true)}
        >
          Allow this machine
        </Button>
        <Button variant="danger" disabled={answer.isPending} loading={busy(false)} onClick={() => send(false)}>
          Refuse
        </Button>
        <Button
          variant="ghost"
          className="ml-auto"
          onClick={() => {
            find.reset()
            setCode('')
          }}
        >
          Another code
        </Button>
      </div>
    </div>
  )
}

import { TerminalSquare } from 'lucide-react'
import { Card } from '#app/_ui/card.tsx'
import { Disclosure } from '#app/_ui/disclosure.tsx'
import { EmptyState } from '#app/_ui/empty-state.tsx'
import { formatPlural, NONE } from '#app/_ui/format.ts'
import { Name } from '#app/_ui/name.tsx'
import { type Column, Table } from '#app/_ui/table.tsx'
import { Time } from '#app/_ui/time.tsx'
import { CsvLink } from '../csv-link.tsx'
import type { ApiToken } from '../outputs.ts'
import type { TooOld } from '../sign-in-again.tsx'
import { EndToken } from './end-token.tsx'
import { MakeToken } from './make-token.tsx'

type Props = {
  org: string
  origin: string
  tokens: readonly ApiToken[]
  /** Reads the list at all: owners, admins and auditors. */
  maySee: boolean
  mayMake: boolean
  tooOld: TooOld | undefined
}

/** Tokens by which the organisation's own programs read its spend: who made them, when they were used, and their end. */
export function TokensCard({ org, origin, tokens, maySee, mayMake, tooOld }: Props) {
  const live = tokens.filter(token => token.live)
  const over = tokens.filter(token => !token.live)
  const columns = (isLive: boolean): Column<ApiToken>[] => [
    {
      key: 'name',
      head: 'Token',
      cell: ({ name, start }) => (
        <div className="min-w-0">
          <Name inTable className="max-w-40 font-medium">
            {name}
          </Name>
          <div className="font-normal text-ink-3 text-xs">
            <code className="text-xs">{start}…</code>, reads spend
          </div>
        </div>
      ),
    },
    {
      key: 'by',
      head: 'Made by',
      cell: ({ madeBy }) => (
        <Name inTable className="max-w-32">
          {madeBy.name}
        </Name>
      ),
    },
    {
      key: 'used',
      head: 'Last used',
      nowrap: true,
      cell: ({ lastUsedAt }) => (lastUsedAt ? <Time at={lastUsedAt} show="relative" /> : NONE),
    },
    isLive
      ? { key: 'ends', head: 'Ends', nowrap: true, cell: ({ expiresAt }) => <Time at={expiresAt} show="day" /> }
      : {
          key: 'ended',
          head: 'Ended',
          nowrap: true,
          cell: ({ endedAt, expiresAt }) => <Time at={endedAt ?? expiresAt} show="day" />,
        },
    ...(isLive && mayMake
      ? [
          {
            key: 'act',
            head: 'Act',
            hideHead: true,
            numeric: true,
            className: '@max-[35rem]:justify-end',
            cell: ({ id, name }: ApiToken) => <EndToken org={org} id={id} name={name} />,
          },
        ]
      : []),
  ]
  return (
    <Card
      id="tokens"
      title="Tokens for programs"
      aside={
        <>
          {tokens.length > 0 && <CsvLink org={org} list="tokens" />}
          {mayMake && live.length > 0 && <MakeToken {...{ org, origin, tooOld }} />}
        </>
      }
      note={
        live.length > 0 &&
        'A token ends with whoever made it: when they leave, lose the role admin or report their laptop lost. No token sees whose spend it was, or changes anything.'
      }
    >
      {!maySee ? (
        <p className="px-4 py-3 text-ink-2">Owners, admins and auditors see these tokens.</p>
      ) : live.length === 0 ? (
        <EmptyState
          icon={<TerminalSquare aria-hidden />}
          title="No program has a token"
          action={mayMake ? <MakeToken {...{ org, origin, tooOld }} /> : undefined}
        >
          With one, your own programs read spend and its FOCUS export over the API: a data warehouse, a cost tool, a
          sheet. It changes nothing and sees nobody’s own figures.
        </EmptyState>
      ) : (
        <Table caption="Tokens in force" columns={columns(true)} rows={live} rowKey={({ id }) => id} />
      )}
      {over.length > 0 && (
        <Disclosure className="border-t" summary={`${formatPlural(over.length, 'token')} of before`}>
          <Table caption="Tokens that have ended" columns={columns(false)} rows={over} rowKey={({ id }) => id} />
        </Disclosure>
      )}
    </Card>
  )
}

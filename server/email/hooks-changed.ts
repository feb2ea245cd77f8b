import { CLIENT_NAMES, type Client } from '#core/client.ts'
import { type Block, layOut, type Mail } from './layout.ts'

export type HooksChangedData = {
  account: string
  org: string
  machine: string
  member: string
  /** Clients that hold less than before, with what they held by and why, as far as the machine told. */
  lost: readonly { client: string; from: string; to: string; why: readonly string[] }[]
  /** Clients that hold again. */
  restored: readonly { client: string; to: string }[]
  at: string
  url: string
}

const named = (client: string) => CLIENT_NAMES[client as Client] ?? client
const list = (names: readonly string[]) =>
  names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`

/** A machine's hooks hold less than its owners count on, or hold again: to an owner of the organisation. */
export function hooksChangedMail(data: HooksChangedData): Mail {
  const { machine, member, lost, restored } = data
  const gone = list(lost.map(({ client }) => named(client)))
  const back = list(restored.map(({ client }) => named(client)))
  const subject =
    lost.length > 0
      ? `${gone} on ${machine}: your rules hold less than before`
      : `${back} on ${machine}: your rules hold again`
  const rows: (readonly [string, string])[] = [
    ['Organisation', data.org],
    ['Machine', `${machine} (${member})`],
    ...lost.map(
      ({ client, from, to, why }) =>
        [named(client), `${from} → ${to}${why.length > 0 ? `: ${why.join('; ')}` : ''}`] as const,
    ),
    ...restored.map(({ client, to }) => [named(client), `${to} again`] as const),
    ['When', data.at],
  ]
  const text =
    lost.length > 0
      ? `Calls of ${gone} on this machine are not held as they were. It may be meant, an update may have done it, or somebody may have taken the hook out. Calls that nobody judged are found afterwards and shown on the machine’s page.`
      : `The hooks of ${back} on this machine hold again.`
  const blocks: Block[] = [
    { kind: 'text', text },
    { kind: 'rows', rows },
    { kind: 'link', label: 'Open the machine', url: data.url },
    {
      kind: 'small',
      text: `Sent to ${data.account}, an owner of ${data.org}, once for each loss and once when it is mended.`,
    },
  ]
  return layOut(subject, blocks)
}

/** Machines whose hooks hold less than their owners count on, in one mail. */
export function hooksDigestMail(data: {
  account: string
  org: string
  machines: readonly { machine: string; clients: readonly string[] }[]
  url: string
}): Mail {
  const count = data.machines.length
  const blocks: Block[] = [
    {
      kind: 'text',
      text: 'The hooks of many machines changed within a few minutes. On these your rules hold less than before:',
    },
    { kind: 'rows', rows: data.machines.map(({ machine, clients }) => [machine, list(clients.map(named))] as const) },
    { kind: 'link', label: 'Open the machines', url: data.url },
    { kind: 'small', text: `Sent to ${data.account}, an owner of ${data.org}, in place of single mails.` },
  ]
  return layOut(
    `On ${count === 1 ? 'a machine' : `${count} machines`} of ${data.org} rules hold less than before`,
    blocks,
  )
}

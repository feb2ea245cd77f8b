import { layOut, type Mail } from './layout.ts'

/** An invitation. The link names it and has no power: it is accepted by signing in as the invited address. */
export function invitationMail(data: {
  email: string
  name: string
  org: string
  role: string
  invitedBy: string
  url: string
  expires: string
}): Mail {
  return layOut(`${data.invitedBy} invites you to ${data.org} on Holdpoint`, [
    {
      kind: 'text',
      text: `Hello ${data.name}, ${data.invitedBy} invites you to ${data.org} on Holdpoint. There, limits for coding agents are set, and people answer when an agent reaches one.`,
    },
    {
      kind: 'rows',
      rows: [
        ['Organisation', data.org],
        ['Your role', data.role],
        ['Your account', data.email],
        ['Open until', data.expires],
      ],
    },
    { kind: 'link', label: 'See the invitation', url: data.url },
    {
      kind: 'small',
      text: `To accept it you sign in as ${data.email}; whoever cannot read this mailbox cannot use the link.`,
    },
  ])
}

import type { Role } from '#core/role.ts'

/** What each role may do, for somebody who has not read the docs. Every role may do what those below it may. */
export const ROLE_WORDS: Record<Role, string> = {
  owner:
    'Everything an admin may, and: rotates keys, connects sign-in providers, confirms a restored copy, makes owners.',
  admin:
    'Everything a lead may, and: publishes boundaries, invites and removes members, revokes machines, changes settings.',
  lead: 'Answers requests of others that ask for a lead, and ends grants that were given.',
  member: 'Works with agents on machines of their own, and sees what is held and why.',
  auditor: 'Reads everything, the audit included. Answers and changes nothing.',
}

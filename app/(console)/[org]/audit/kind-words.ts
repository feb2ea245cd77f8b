import type { EvidenceKind } from '#core/evidence/entry.ts'

/** What happened, in words, for every kind of entry; who did it and to whom stands beside it. */
export const KIND_WORDS: Record<EvidenceKind, string> = {
  'organisation.created': 'Organisation created',
  'organisation.setting_changed': 'Setting changed',
  'organisation.restored': 'Restored from an older copy',
  'organisation.restore_confirmed': 'Restored copy confirmed',
  'member.invited': 'Invitation sent',
  'member.invitation_revoked': 'Invitation withdrawn',
  'member.joined': 'Member joined',
  'member.role_changed': 'Role changed',
  'member.removed': 'Member removed',
  'member.signed_in': 'Signed in',
  'member.sign_in_refused': 'Sign-in refused',
  'member.laptop_lost': 'Laptop reported lost',
  'member.signed_out_everywhere': 'Signed out everywhere',
  'connection.created': 'Sign-in provider connected',
  'connection.changed': 'Sign-in provider changed',
  'connection.removed': 'Sign-in provider removed',
  'credential.issued': 'Credential of the command issued',
  'credential.revoked': 'Credential of the command ended',
  'root.published': 'Root document published',
  'key.rotated': 'Key rotated',
  'ruleset.published': 'Boundaries published',
  'ruleset.equivocation': 'One version with two contents seen',
  'machine.join_line_made': 'Join line made',
  'machine.joined': 'Machine joined',
  'machine.left': 'Machine left',
  'machine.revoked': 'Machine revoked',
  'machine.cloned': 'Machine looks copied',
  'machine.reported_refusal': 'Machine refused what it was sent',
  'machine.level_changed': 'Strength of a hook changed',
  'machine.unguarded_calls': 'Calls that nobody judged',
  'journal.segment': 'Journal received',
  'journal.rolled_back': 'Journal went back',
  'journal.reset': 'Journal began anew',
  'approval.requested': 'Approval requested',
  'approval.voted': 'Approval counted, more needed',
  'approval.vote_refused': 'Answer refused',
  'approval.approved': 'Request approved',
  'approval.denied': 'Request denied',
  'approval.expired': 'Request expired',
  'approval.withdrawn': 'Request withdrawn',
  'approval.used': 'Approval used',
  'approval.lapsed': 'Approval lapsed unused',
  'approval.revoked': 'Approval revoked',
  'usage.lowered': 'Usage of a day lowered',
  'usage.quarantined': 'Usage of the future kept apart',
  'usage.repriced': 'Usage priced anew',
  'budget.step_reached': 'Step of a budget reached',
  'budget.reservation_overrun': 'More spent than was reserved',
  'statement.closed': 'Statement closed',
  'statement.sent': 'Statement mailed again',
  'statement.rule_changed': 'How statements are drawn up changed',
  'tenant.added': 'Tenant added',
  'tenant.renamed': 'Name of a tenant changed',
  'tenant.removed': 'Tenant removed',
  'tenant.contact_changed': 'Contact of a tenant changed',
  'figures.granted': 'Sight of own figures granted',
  'figures.grant_ended': 'Sight of own figures ended',
  'token.made': 'Token for programs made',
  'token.ended': 'Token for programs ended',
  'invoice.imported': 'Invoice imported',
  'invoice.spread': 'Difference of an invoice spread',
  'invoice.removed': 'Invoice removed',
}

/** The nouns that kinds begin with, as groups of a filter. */
const NOUN_WORDS: Record<string, string> = {
  organisation: 'Organisation',
  member: 'Members and sign-in',
  connection: 'Sign-in providers',
  credential: 'Credentials of the command',
  root: 'Root document',
  key: 'Keys',
  ruleset: 'Boundaries',
  machine: 'Machines',
  journal: 'Journals',
  approval: 'Approvals',
  usage: 'Usage',
  budget: 'Budgets',
  statement: 'Statements',
  tenant: 'Tenants',
  figures: 'Sight of own figures',
  token: 'Tokens for programs',
  invoice: 'Invoices',
}

/** What should catch the eye of whoever reads the list. */
const ALARMS: readonly EvidenceKind[] = [
  'organisation.restored',
  'member.sign_in_refused',
  'member.laptop_lost',
  'ruleset.equivocation',
  'machine.cloned',
  'machine.reported_refusal',
  'machine.unguarded_calls',
  'journal.rolled_back',
  'journal.reset',
  'approval.vote_refused',
  'usage.lowered',
  'usage.quarantined',
  'budget.reservation_overrun',
]
export const isAlarm = (kind: EvidenceKind): boolean => ALARMS.includes(kind)

/** The choices of the filter: each noun as a whole, then its kinds. */
export function kindChoices(): { value: string; label: string }[] {
  const kinds = Object.keys(KIND_WORDS) as EvidenceKind[]
  return Object.entries(NOUN_WORDS).flatMap(([noun, words]) => {
    const own = kinds.filter(kind => kind.startsWith(`${noun}.`))
    const all = { value: noun, label: own.length === 1 ? words : `${words}: all` }
    return own.length === 1 ? [all] : [all, ...own.map(value => ({ value, label: `    ${KIND_WORDS[value]}` }))]
  })
}

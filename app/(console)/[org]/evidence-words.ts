import type { EvidenceKind } from '#core/evidence/entry.ts'

/** What happened, as the end of a sentence that begins with who did it. */
export const EVIDENCE_WORDS: Record<EvidenceKind, string> = {
  'organisation.created': 'set the organisation up',
  'organisation.setting_changed': 'changed a setting',
  'organisation.restored': 'noticed that the database was restored from an older copy',
  'organisation.restore_confirmed': 'confirmed the restored database',
  'member.invited': 'invited somebody',
  'member.invitation_revoked': 'took an invitation back',
  'member.joined': 'joined',
  'member.role_changed': 'changed a role',
  'member.removed': 'removed a member',
  'member.signed_in': 'signed in',
  'member.sign_in_refused': 'was refused at the sign-in',
  'member.laptop_lost': 'reported a lost laptop',
  'member.signed_out_everywhere': 'ended all sign-ins of a member',
  'connection.created': 'added a sign-in provider',
  'connection.changed': 'changed a sign-in provider',
  'connection.removed': 'removed a sign-in provider',
  'credential.issued': 'made a command credential',
  'credential.revoked': 'ended a command credential',
  'root.published': 'published a root of keys',
  'key.rotated': 'rotated a key',
  'ruleset.published': 'published rules',
  'ruleset.equivocation': 'was shown two rule sets with one version',
  'machine.join_line_made': 'made a join line',
  'machine.joined': 'joined a machine',
  'machine.left': 'left',
  'machine.revoked': 'revoked a machine',
  'machine.cloned': 'was found to be two machines',
  'machine.reported_refusal': 'did not take what was offered to it',
  'machine.level_changed': 'changed how far an agent is bound',
  'machine.unguarded_calls': 'reported calls that nobody judged',
  'journal.segment': 'handed in its journal',
  'journal.rolled_back': 'went back in its journal',
  'journal.reset': 'began its journal anew',
  'approval.requested': 'asked for approval',
  'approval.voted': 'voted on a request',
  'approval.vote_refused': 'was refused as an approver',
  'approval.approved': 'let a request go on',
  'approval.denied': 'denied a request',
  'approval.expired': 'let a request expire',
  'approval.withdrawn': 'withdrew a request',
  'approval.used': 'used an approval',
  'approval.lapsed': 'let an approval lapse',
  'approval.revoked': 'ended a grant',
}

/** Entries that are about somebody rather than by somebody: the sentence begins with its subject. */
export const ABOUT_SUBJECT: readonly EvidenceKind[] = ['member.joined']

/** Who acted: the name where this reader may see it. */
export function actorWords(actor: { kind: string; name: string | null; erased: boolean }): string {
  if (actor.kind === 'system') return 'The control plane'
  if (actor.name !== null) return actor.name
  if (actor.erased) return 'Somebody who was erased'
  return actor.kind === 'machine' ? 'A machine' : 'A member'
}

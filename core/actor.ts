import type { SessionMethod } from './approval/answer.ts'
import type { Role } from './role.ts'

/** A person, through a session of the web app or through a credential of their own. */
export type MemberActor = {
  kind: 'member'
  memberId: string
  orgId: string
  orgSlug: string
  role: Role
  name: string
  email: string
  /** How the session began; `admin_credential` for the command's own credential. */
  method: SessionMethod
  authnAt: Date
  sessionId?: string
  how: 'web' | 'team-cli'
  /** Begun from the demo mailbox: marked wherever it answers. */
  demo: boolean
}
/** A joined connector, for its member; approves nothing, nobody's. */
export type MachineActor = { kind: 'machine'; machineId: string; memberId: string; orgId: string; tokenId: string }
/** The control plane itself: jobs and the first start. */
export type SystemActor = { kind: 'system'; orgId: string }

/** A program with one of the organisation's own tokens. It reads and is nobody: individuals' figures are never opened to it. */
export type TokenActor = { kind: 'token'; tokenId: string; orgId: string; orgSlug: string }

/** Who acts: a value that is passed in, never looked up. */
export type Actor = MemberActor | MachineActor | SystemActor

/** How a member's session came to be: what an actor has beside who they are. */
type Session = Pick<MemberActor, 'method' | 'authnAt' | 'how' | 'demo' | 'sessionId'>

/** A member, as the database has them now, through a session. */
export const memberActor = (
  member: { id: string } & Pick<MemberActor, 'orgId' | 'role' | 'name' | 'email'>,
  orgSlug: string,
  session: Session,
): MemberActor => ({
  kind: 'member',
  memberId: member.id,
  orgId: member.orgId,
  orgSlug,
  role: member.role,
  name: member.name,
  email: member.email,
  ...session,
})

import * as z from 'zod/mini'
import { SELF_ANSWERS } from '#core/boundary/shape.ts'
import { AppError } from '#core/error.ts'
import { HANDLE } from '#core/id.ts'
import { openJws } from '#core/jws.ts'
import type { Crypto } from '#core/key.ts'
import { ROLES } from '#core/role.ts'
import { keysOf, type Root } from '#core/root.ts'
import { DIGEST, NONCE, RULE_NAME } from './request.ts'

/** How a person answered. `device_link` and machines never stand here: they cannot answer. */
const ANSWER_HOWS = ['web', 'team-cli', 'passkey'] as const
export type AnswerHow = (typeof ANSWER_HOWS)[number]
/** How the session of an answerer began. */
export const SESSION_METHODS = ['oidc', 'passkey', 'email_code', 'console', 'device_link', 'admin_credential'] as const
export type SessionMethod = (typeof SESSION_METHODS)[number]

/** Up to where an answer holds. The budget goes by the name that the rule gives it. */
export const Ceiling = z.strictObject({
  figure: z.enum(['session_cost_usd', 'budget_used_pct']),
  qualifier: z.optional(z.string().check(z.regex(RULE_NAME))),
  /** The grant holds while the figure is below this; reaching it asks again. */
  op: z.literal('<'),
  value: z.string().check(z.regex(/^\d{1,12}(\.\d{1,6})?$/)),
})
export type Ceiling = z.infer<typeof Ceiling>

/** An answer as machines verify it, signed with the role `answer`. Times in ISO 8601 UTC. */
export const Answer = z.strictObject({
  v: z.literal(1),
  /** 16 random bytes: what a step is spent by. */
  answerId: z.string().check(z.regex(NONCE)),
  org: z.string(),
  machine: z.string(),
  rootSeq: z.int(),
  handle: z.string().check(z.regex(HANDLE)),
  /** Digest of the request it answers: the binding. */
  request: z.string().check(z.regex(DIGEST)),
  decision: z.enum(['approve', 'deny']),
  scope: z.enum(['step', 'session']),
  until: z.array(Ceiling),
  notBefore: z.iso.datetime(),
  notAfter: z.iso.datetime(),
  /** Everyone whose vote was counted; one, unless the rule asks for several. */
  approvers: z
    .array(
      z.strictObject({
        memberId: z.string(),
        name: z.string(),
        role: z.enum(ROLES),
        method: z.enum(SESSION_METHODS),
        how: z.enum(ANSWER_HOWS),
        authnAt: z.iso.datetime(),
        /** Marked where the answerer made the request (allowed by `self`), or sat at the demo mailbox. */
        self: z.optional(z.literal(true)),
        demo: z.optional(z.literal(true)),
      }),
    )
    .check(z.minLength(1)),
  policy: z.strictObject({
    role: z.enum(ROLES),
    approvals: z.int(),
    signed: z.boolean(),
    self: z.enum(SELF_ANSWERS),
  }),
  /** Position in the machine's stream of answers; rises, so that a machine can ask for what it has not seen. */
  seq: z.int().check(z.gte(1)),
})
export type Answer = z.infer<typeof Answer>

/** Verifies an answer under the `answer` keys of a root. Whether it releases anything is decided in accept.ts. */
export function openAnswer(jws: string, root: Root, crypto: Crypto): Answer {
  const { value } = openJws(jws, 'holdpoint-answer+jws', keysOf(root, 'answer', crypto), crypto)
  const read = Answer.safeParse(value)
  if (!read.success)
    throw new AppError('BAD_SIGNATURE', 'The answer is not of a form this connector can read.', {
      details: { why: 'malformed' },
    })
  if (read.data.org !== root.org)
    throw new AppError('BAD_SIGNATURE', 'The answer is of another organisation.', {
      details: { why: 'other_organisation' },
    })
  return read.data
}

import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import type { MachineActor, MemberActor } from '#core/actor.ts'
import type { SessionMethod } from '#core/approval/answer.ts'
import { type ApprovalRequest, type CrossedFigure, ruleDigest } from '#core/approval/request.ts'
import { readRules } from '#core/boundary/read-rules.ts'
import { ruleDigestInput } from '#core/boundary/rule.ts'
import { isUnsupported } from '#core/boundary/shape.ts'
import { base64url } from '#core/bytes.ts'
import { makeHandle, makeId } from '#core/id.ts'
import { type JwsType, jwsSigningInput } from '#core/jws.ts'
import { type PublicKey, readPublicKey, thumbprint } from '#core/key.ts'
import type { Role } from '#core/role.ts'
import { makeToken } from '#core/token.ts'
import type { Db } from '#server/db.ts'
import type { FeatureContext } from '#server/features/context.ts'
import { createOrganisation } from '#server/features/organisation.ts'
import { publishRuleSet } from '#server/features/rule-set.ts'
import { crypto } from '#server/keys/crypto.ts'
import { hashToken } from '#server/keys/token-hash.ts'

/** Makers of things that tests need, through the real verbs where there is one. */

export const random = (n: number): Uint8Array => new Uint8Array(randomBytes(n))

/** The environment that server modules read; set before anything signs. */
export function serverEnvironment(): void {
  process.env.HOLDPOINT_PUBLIC_URL ??= 'http://localhost:3000'
  process.env.HOLDPOINT_SECRET ??= randomBytes(32).toString('base64url')
}

export type TestOrganisation = { id: string; slug: string; ownerId: string }

export async function makeOrganisation(
  db: Db,
  slug = `org-${makeHandle(random(6)).slice(4)}`,
  now = new Date(),
): Promise<TestOrganisation> {
  serverEnvironment()
  const { orgId, ownerId } = await db.$transaction(tx =>
    createOrganisation(
      tx,
      { now, random },
      { slug, name: slug, owner: { email: `owner@${slug}.test`, name: 'Olga Owner' } },
    ),
  )
  return { id: orgId, slug, ownerId }
}

export async function makeMember(
  db: Db,
  org: TestOrganisation,
  role: Role,
  name: string = role,
  now = new Date(0),
): Promise<string> {
  const id = makeId('member', random(12))
  await db.member.create({
    data: {
      id,
      orgId: org.id,
      email: `${id.toLowerCase().replaceAll(/[^a-z0-9]/g, '')}@${org.slug}.test`,
      name,
      role,
      joinedAt: now,
    },
  })
  return id
}

/** A person signed in to an organisation, as the doors would pass them. */
export function actorOf(
  org: TestOrganisation,
  memberId: string,
  role: Role,
  method: SessionMethod = 'oidc',
): MemberActor {
  return {
    kind: 'member',
    memberId,
    orgId: org.id,
    orgSlug: org.slug,
    role,
    name: role,
    email: `${role}@${org.slug}.test`,
    method,
    authnAt: new Date(),
    how: method === 'admin_credential' ? 'team-cli' : 'web',
    demo: false,
  }
}

export function contextOf<A extends MemberActor | MachineActor>(db: Db, actor: A, now = new Date()): FeatureContext<A> {
  return { db, actor, now, random, origin: 'http://localhost:3000' }
}

export type TestMachine = {
  id: string
  memberId: string
  org: TestOrganisation
  token: string
  actor: MachineActor
  publicKey: PublicKey
  sign(typ: JwsType, payload: unknown): string
}

/** A key pair that signs as machines do. */
export function makeSigner(): {
  publicKey: PublicKey
  privateKey: KeyObject
  sign(typ: JwsType, payload: unknown): string
} {
  const pair = generateKeyPairSync('ed25519')
  const publicKey = readPublicKey(pair.publicKey.export({ format: 'jwk' }), 'test key')
  return {
    publicKey,
    privateKey: pair.privateKey,
    sign(typ, payload) {
      const input = jwsSigningInput(typ, thumbprint(publicKey, crypto.sha256), payload)
      return `${input}.${base64url(sign(null, Buffer.from(input), pair.privateKey))}`
    },
  }
}

/** A joined machine of a member. */
export async function makeMachine(
  db: Db,
  org: TestOrganisation,
  memberId: string,
  label = 'laptop',
  now = new Date(),
): Promise<TestMachine> {
  const id = makeId('machine', random(12))
  const signer = makeSigner()
  const token = makeToken('machine', random(32))
  const tokenId = makeId('credential', random(12))
  await db.machine.create({
    data: {
      id,
      orgId: org.id,
      memberId,
      label,
      platform: 'linux',
      connector: '0.1.0',
      publicKeyX: signer.publicKey.x,
      joinedAt: now,
      unsupported: [],
    },
  })
  await db.token.create({
    data: {
      id: tokenId,
      kind: 'machine',
      hash: hashToken(token),
      orgId: org.id,
      memberId,
      machineId: id,
      createdAt: now,
    },
  })
  return {
    id,
    memberId,
    org,
    token,
    publicKey: signer.publicKey,
    sign: signer.sign,
    actor: { kind: 'machine', machineId: id, memberId, orgId: org.id, tokenId },
  }
}

/** Rules that hold a session at twenty dollars until a role approves; `extra` are more lines of the rule. */
export const costRule = (role: string, extra = ''): string => `boundaries:
  - name: session-spend
    action: continue
    when: { session_cost_usd: ">= 20" }
    require: approver:${role}
    stage: enforce
${extra}tests:
  - { action: continue, figures: { session_cost_usd: "20" }, expect: "approver:${role}" }
  - { action: continue, figures: { session_cost_usd: "19.99" }, expect: pass }
`

export async function publish(
  db: Db,
  org: TestOrganisation,
  text: string,
): Promise<{ version: number; digest: string; etag: string }> {
  const newest = await db.ruleSetVersion.findFirst({ where: { orgId: org.id }, orderBy: { version: 'desc' } })
  const etag = newest ? `"${newest.version}.${newest.digest}"` : '"0"'
  return publishRuleSet(contextOf(db, actorOf(org, org.ownerId, 'owner')), { text, note: 'for a test', etag })
}

/** A request as a connector makes it, under the newest published rule set. */
export async function makeRequest(
  db: Db,
  machine: TestMachine,
  over: Partial<ApprovalRequest> = {},
): Promise<ApprovalRequest> {
  const version = await db.ruleSetVersion.findFirstOrThrow({
    where: { orgId: machine.org.id },
    orderBy: { version: 'desc' },
  })
  const payload = JSON.parse(Buffer.from(version.jws.split('.')[1]!, 'base64url').toString()) as {
    boundaries: unknown[]
  }
  const rules = readRules(payload.boundaries).flatMap(rule =>
    isUnsupported(rule) || rule.require.kind !== 'approver'
      ? []
      : [{ name: rule.name, digest: ruleDigest(ruleDigestInput(rule), crypto.sha256) }],
  )
  const now = new Date()
  return {
    v: 1,
    handle: makeHandle(random(6)),
    org: machine.org.id,
    machine: machine.id,
    member: machine.memberId,
    client: 'claude-code',
    sessionRef: base64url(random(32)),
    subject: { kind: 'session' },
    action: 'continue',
    rules,
    ruleset: { version: version.version, digest: version.digest },
    figures: [cost('20.14')],
    attempt: 1,
    createdAt: now.toISOString(),
    expiresAt: new Date(now.getTime() + 3600_000).toISOString(),
    nonce: base64url(random(16)),
    ...over,
  }
}

export const cost = (value: string): CrossedFigure => ({
  name: 'session_cost_usd',
  value,
  unit: 'usd',
  observedAt: new Date().toISOString(),
})

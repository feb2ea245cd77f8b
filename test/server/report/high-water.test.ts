import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeEach, expect, it } from 'vitest'
import { fileRequest } from '#server/features/approval/file-request.ts'
import { keepHighWater, type Marks } from '#server/features/high-water.ts'
import { confirmRestore } from '#server/features/restore.ts'
import { publishRuleSet } from '#server/features/rule-set.ts'
import { useDatabase } from '../../support/db.ts'
import {
  actorOf,
  contextOf,
  costRule,
  makeMachine,
  makeMember,
  makeOrganisation,
  makeRequest,
  publish,
  type TestOrganisation,
} from '../../support/makers.ts'

const db = useDatabase()
const folder = mkdtempSync(path.join(tmpdir(), 'holdpoint-marks-'))
let file: string
let org: TestOrganisation
let n = 0

beforeEach(async () => {
  file = path.join(folder, `${n++}.json`)
  org = await makeOrganisation(db.prisma)
})
afterAll(() => rmSync(folder, { recursive: true }))

const keep = () => keepHighWater(db.prisma, file, new Date())
const marks = () => JSON.parse(readFileSync(file, 'utf8')) as Marks
const change = (mark: Partial<Marks[string]>) =>
  writeFileSync(file, JSON.stringify({ ...marks(), [org.id]: { ...marks()[org.id], ...mark } }))
const owner = () => contextOf(db.prisma, actorOf(org, org.ownerId, 'owner'))
const standing = () => db.prisma.organisation.findUniqueOrThrow({ where: { id: org.id } })
const restoredEntries = () =>
  db.prisma.evidenceEntry.findMany({ where: { orgId: org.id, kind: 'organisation.restored' } })

it('a database that grows fits its marks, minute after minute', async () => {
  expect(await keep()).toEqual([])
  await publish(db.prisma, org, costRule('lead'))
  expect(await keep()).toEqual([])
  const { size, head } = await db.prisma.ledger.findUniqueOrThrow({ where: { orgId: org.id } })
  expect(marks()[org.id]).toEqual({ size, leaf: head, version: 1 })
  expect(await standing()).toMatchObject({ restoredAt: null })
})

it('a shorter ledger than marked is a restored database: no publish, what waits is withdrawn, told once', async () => {
  const { etag } = await publish(db.prisma, org, costRule('lead'))
  const machine = await makeMachine(db.prisma, org, await makeMember(db.prisma, org, 'member'))
  const request = await makeRequest(db.prisma, machine)
  const { handle } = await fileRequest(contextOf(db.prisma, machine.actor), {
    request: machine.sign('holdpoint-request+jws', request),
  })
  await keep()
  change({ size: marks()[org.id]!.size + 40, version: 9 })
  expect(await keep()).toEqual([org.id])
  expect(await standing()).toMatchObject({ restoredAt: expect.any(Date), highestReported: 9 })
  expect((await db.prisma.approvalRequest.findFirstOrThrow({ where: { handle } })).state).toBe('withdrawn')
  await expect(publishRuleSet(owner(), { text: costRule('lead'), note: 'x', etag })).rejects.toMatchObject({
    code: 'RESTORED',
  })
  expect(await keep()).toEqual([])
  expect(await restoredEntries()).toHaveLength(1)
  expect(await confirmRestore(owner())).toEqual({ nextVersion: 10 })
  expect(await keep()).toEqual([])
  expect(await standing()).toMatchObject({ restoredAt: null })
})

it('another entry where the mark stands is told as well: a ledger of equal length that was written anew', async () => {
  await keep()
  change({ leaf: 'A'.repeat(43) })
  expect(await keep()).toEqual([org.id])
})

it('marks of organisations that this database never held, and a broken file, accuse nobody', async () => {
  await keep()
  writeFileSync(file, JSON.stringify({ org_elsewhere: { size: 99, leaf: 'x', version: 9 } }))
  expect(await keep()).toEqual([])
  expect(marks().org_elsewhere).toBeDefined()
  writeFileSync(file, '{ not json')
  expect(await keep()).toEqual([])
  expect(marks()[org.id]).toBeDefined()
})

it('nothing but a regular file is replaced', async () => {
  symlinkSync(path.join(folder, 'elsewhere'), file)
  await expect(keep()).rejects.toThrow('not a regular file')
})

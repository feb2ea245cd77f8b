import { listApiTokens } from '../features/api-token.ts'
import { getSettings } from '../features/settings.ts'
import { csvDoor } from './csv-doors.ts'

/** Tokens for programs, those that ended too; never what they open with. */
export const tokensCsv = csvDoor('tokens', async ctx => ({
  columns: [
    'name',
    'begins_with',
    'may',
    'made_by',
    'made_at_utc',
    'good_until_utc',
    'last_used_at_utc',
    'ended_at_utc',
    'in_force',
  ],
  rows: (await listApiTokens(ctx)).map(one => [
    one.name,
    one.start,
    one.scopes.join(' '),
    one.madeBy.name,
    one.createdAt,
    one.expiresAt,
    one.lastUsedAt,
    one.endedAt,
    one.live ? 'yes' : 'no',
  ]),
}))

/** The organisation's keys by the thumbprints of their public halves. */
export const keysCsv = csvDoor('keys', async ctx => ({
  columns: ['role', 'thumbprint', 'since_utc', 'retired_at_utc', 'next'],
  rows: (await getSettings(ctx)).keys.map(({ role, kid, createdAt, retiredAt, next }) => [
    role,
    kid,
    createdAt,
    retiredAt,
    next ? 'yes' : 'no',
  ]),
}))

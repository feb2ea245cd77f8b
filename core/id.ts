import { base64url, hex } from './bytes.ts'

/** Kinds of row ids. The prefix makes a misplaced id readable, and a wrong table refuse it. */
const ID_PREFIX = {
  organisation: 'org',
  member: 'mem',
  machine: 'mac',
  session: 'ses',
  invitation: 'inv',
  connection: 'idp',
  tenant: 'ten',
  vote: 'vot',
  key: 'key',
  credential: 'crd',
  grant: 'fig',
  reservation: 'rsv',
  token: 'tok',
  invoice: 'ivc',
} as const
export type IdKind = keyof typeof ID_PREFIX

/** A row id from 12 random bytes, such as `org_Zm9vYmFyYmF6cXV4`. */
export const makeId = (kind: IdKind, random12: Uint8Array): string => `${ID_PREFIX[kind]}_${base64url(random12)}`

/** A decision's handle from 6 random bytes: `bnd-` and 12 hexadecimal digits (a handle, never the binding). */
export const makeHandle = (random6: Uint8Array): string => `bnd-${hex(random6)}`
/** The shape of a handle. */
export const HANDLE = /^bnd-[0-9a-f]{12}$/

/** A machine's name for people: it stands in shells' lines and on pages, so it is made of little. */
export const MACHINE_LABEL = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/
export const MACHINE_LABEL_WORDS = 'up to 63 letters, digits, dots, dashes and underscores, the first a letter or digit'

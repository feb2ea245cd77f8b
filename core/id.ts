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
} as const
export type IdKind = keyof typeof ID_PREFIX

/** A row id from 12 random bytes, such as `org_Zm9vYmFyYmF6cXV4`. */
export const makeId = (kind: IdKind, random12: Uint8Array): string => `${ID_PREFIX[kind]}_${base64url(random12)}`

/** A decision's handle from 6 random bytes: `bnd-` and 12 hexadecimal digits (a handle, never the binding). */
export const makeHandle = (random6: Uint8Array): string => `bnd-${hex(random6)}`
/** The shape of a handle. */
export const HANDLE = /^bnd-[0-9a-f]{12}$/

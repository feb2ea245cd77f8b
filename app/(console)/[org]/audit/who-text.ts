/** Somebody or something that an entry names. */
type Named = { kind: string; ref: string; name: string | null; erased: boolean }

const NOUNS: Record<string, string> = { approval: '', ruleset: 'version ', root: 'root ' }

/** Who or what, in words: a name where the reader may see it, else what can be said without one. */
export function whoText({ kind, ref, name, erased }: Named): string {
  switch (kind) {
    case 'member':
      return erased ? 'somebody whose name was erased' : (name ?? 'a member')
    case 'system':
      return 'the control plane'
    case 'organisation':
      return 'the organisation'
    case 'machine':
      return name ?? `machine ${ref}`
    case 'invitation':
      return name === null ? 'an invitation' : `the invitation of ${name}`
    case 'connection':
      return name ?? 'a provider'
    case 'credential':
      return name === null ? 'a credential' : `the credential of ${name}`
    case 'key':
      return name === null ? `key ${shortDigest(ref)}` : `${keyName(name).toLowerCase()} key ${shortDigest(ref)}`
    default:
      return `${NOUNS[kind] ?? `${kind} `}${ref.length > 24 ? shortDigest(ref) : ref}`
  }
}

/** Enough of a digest to tell two apart at a glance; the whole of it stands in the details. */
export const shortDigest = (digest: string): string => `${digest.slice(0, 8)}…`

const KEY_NAMES: Record<string, string> = {
  owner: 'Owner',
  ruleset: 'Rule set',
  answer: 'Answers',
  fresh: 'Freshness',
  ledger: 'Ledger',
  registry: 'Registry',
}

/** A key by what it signs, as the settings call it. */
export const keyName = (role: string): string => KEY_NAMES[role] ?? role

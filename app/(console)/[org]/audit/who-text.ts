/** Somebody or something that an entry names. */
type Named = { kind: string; ref: string; name: string | null; erased: boolean }

const NOUNS: Record<string, string> = {
  approval: '',
  ruleset: 'version ',
  root: 'root ',
  key: 'key ',
  invitation: 'invitation ',
  connection: 'connection ',
  credential: 'credential ',
}

/** Who or what, in words: a name where the reader may see it, else what can be said without one. */
export function whoText({ kind, ref, name, erased }: Named): string {
  if (kind === 'member') return erased ? 'somebody whose name was erased' : (name ?? 'a member')
  if (kind === 'system') return 'the control plane'
  if (kind === 'organisation') return 'the organisation'
  if (kind === 'machine') return name ?? `machine ${ref}`
  return `${NOUNS[kind] ?? `${kind} `}${ref.length > 24 ? `${ref.slice(0, 12)}…` : ref}`
}

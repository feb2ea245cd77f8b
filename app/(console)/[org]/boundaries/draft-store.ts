/** What a draft was written against. */
export type Base = { version: number; etag: string; text: string }
export type Draft = { base: Base; text: string; savedAt: string }

/** One draft an organisation and person in this browser; it outlives reloads, errors and signing out. */
export const draftKey = (org: string, memberId: string) => `holdpoint:draft:${org}:${memberId}`

/** Reads a draft that was kept; undefined when there is none, or what stands there is not one. */
export function parseDraft(stored: string | null): Draft | undefined {
  if (stored === null) return undefined
  try {
    const draft = JSON.parse(stored) as Partial<Draft> | null
    const base = draft?.base
    if (typeof draft?.text !== 'string' || typeof draft.savedAt !== 'string') return undefined
    if (typeof base?.version !== 'number' || typeof base.etag !== 'string' || typeof base.text !== 'string')
      return undefined
    return {
      base: { version: base.version, etag: base.etag, text: base.text },
      text: draft.text,
      savedAt: draft.savedAt,
    }
  } catch {
    return undefined
  }
}

export function loadDraft(key: string): Draft | undefined {
  try {
    return parseDraft(localStorage.getItem(key))
  } catch {
    return undefined
  }
}

/** Keeps a draft; false when the browser would not (storage full or switched off). */
export function keepDraft(key: string, draft: Draft): boolean {
  try {
    localStorage.setItem(key, JSON.stringify(draft))
    return true
  } catch {
    return false
  }
}

export function dropDraft(key: string): void {
  try {
    localStorage.removeItem(key)
  } catch {
    // Where nothing can be stored, nothing is left behind.
  }
}

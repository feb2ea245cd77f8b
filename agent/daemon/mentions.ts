import type { Entry } from './entry.ts'

/** Entries kept of one handle. A call that is tried a thousand times tells nothing new after a while. */
const DECISIONS_MAX = 200

/** What the journal says about each handle, as far as memory goes back. */
export class Mentions {
  private readonly byHandle = new Map<string, Entry[]>()

  add(entry: Entry): void {
    const handles = new Set<string>()
    if ('handle' in entry && entry.handle) handles.add(entry.handle)
    if (entry.kind === 'decision' && entry.question) handles.add(entry.question)
    if (entry.kind === 'request') handles.add(entry.request.handle)
    for (const handle of handles) {
      const known = this.byHandle.get(handle) ?? []
      if (known.length < DECISIONS_MAX || entry.kind !== 'decision') known.push(entry)
      this.byHandle.set(handle, known)
    }
  }

  /** Oldest first; undefined when memory has nothing of it. */
  of(handle: string): Entry[] | undefined {
    return this.byHandle.get(handle)
  }

  /** Forgets handles that nothing was said of since. */
  forget(beforeMs: number): void {
    for (const [handle, entries] of this.byHandle)
      if (Date.parse(entries.at(-1)!.at) < beforeMs) this.byHandle.delete(handle)
  }
}

/** To which session a client's subagents belong, where their events name only what started them. */

const KNOWN_MAX = 10_000

/**
 * Remembers who was started by whom, as the events of a running daemon tell it; the oldest are forgotten. What was started by
 * something unknown is taken to be that one's.
 */
export class Lineage {
  private readonly roots = new Map<string, string>()

  /** The session at the root of `parent`, which `child` then belongs to as well. */
  note(child: string, parent: string): string {
    const root = this.rootOf(parent)
    if (child !== root) {
      this.roots.delete(child)
      this.roots.set(child, root)
      if (this.roots.size > KNOWN_MAX) this.roots.delete(this.roots.keys().next().value!)
    }
    return root
  }

  rootOf(id: string): string {
    return this.roots.get(id) ?? id
  }
}

import { strengthOf } from '#core/client.ts'
import { switchedOffWords } from '#core/level-words.ts'
import { hookStates } from './hook-levels.ts'
import { type Runtime, record } from './runtime.ts'

/** Notices that hooks hold more or less than they did, whoever changed them, also while no daemon ran: the journal remembers. */
export class HookWatch {
  constructor(private readonly runtime: Runtime) {}

  /** Compares each client's hook with what the journal says it was, and chains what changed. True when anything did. */
  look(): boolean {
    const { runtime } = this
    runtime.clientVersions.look()
    let changed = false
    for (const { client, level, off } of hookStates(runtime)) {
      const was = runtime.state.hooks.get(client) ?? { level: 'not-installed', off: [] }
      const now = [...off].sort()
      if (was.level === level && was.off.join() === now.join()) continue
      // of what was never there, nothing is to be told
      const isNews = was.level !== 'not-installed' || level !== 'not-installed'
      if (!isNews) continue
      record(runtime, { kind: 'hooks_changed', client, from: was.level, to: level, off: now })
      const how = strengthOf(level) < strengthOf(was.level) ? 'hold less' : 'changed'
      const why = now.length > 0 ? ` (${now.map(switchedOffWords).join('; ')})` : ''
      runtime.log(`the hooks of ${client} ${how}: ${was.level} → ${level}${why}`)
      changed = true
    }
    return changed
  }
}

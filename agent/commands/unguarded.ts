import type { DaemonStatus } from '#agent/daemon-client.ts'
import { count } from '#agent/terminal.ts'

/** Sessions in which tool uses ran without a decision, the newest day first. */
export function unguardedSessions({ sessions }: DaemonStatus) {
  return sessions
    .map(session => ({
      ...session,
      days: Object.entries(session.unguarded ?? {})
        .sort()
        .reverse(),
    }))
    .filter(({ days }) => days.length > 0)
    .sort((a, b) => b.days[0]![0].localeCompare(a.days[0]![0]))
}

/** One line for who looks at the rules; undefined when every call was judged. */
export function unguardedWords(status: DaemonStatus): string | undefined {
  const sessions = unguardedSessions(status)
  if (sessions.length === 0) return undefined
  return `${count(status.unguarded, 'tool use')} in ${count(sessions.length, 'session')} ran without a decision, whatever the rules say; \`holdpoint daemon status\` names them.`
}

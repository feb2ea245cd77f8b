import type { PillState } from '#app/_ui/pill.tsx'

/** How far a client binds on a machine, in a word and a sentence. */
export const LEVEL_WORDS: Record<string, { word: string; help: string; pill: PillState }> = {
  managed: {
    word: 'managed',
    help: 'Set by the machine’s administrator: the developer’s own flags cannot remove it.',
    pill: 'passed',
  },
  'managed-hook-user-daemon': {
    word: 'managed hook',
    help: 'The hook is managed, but the daemon behind it runs as the developer and can be stopped.',
    pill: 'passed',
  },
  'user-hook': {
    word: 'user hook',
    help: 'In the developer’s own settings: it holds until they remove it.',
    pill: 'partly',
  },
  'advice-only': { word: 'advice only', help: 'The client tells the agent, and cannot stop it.', pill: 'shadow' },
  idle: {
    word: 'idle',
    help: 'Nothing reaches the pause point: no routing, no team or no collector.',
    pill: 'neutral',
  },
  'figure-unread': {
    word: 'figure unread',
    help: 'A figure that the rules compare cannot be read here.',
    pill: 'partly',
  },
  broken: { word: 'broken', help: 'The hook is there and does not hold: calls pass unseen.', pill: 'held' },
  'figures-only': {
    word: 'figures only',
    help: 'Its calls are counted from its own records; no hook of it was ever reported.',
    pill: 'neutral',
  },
  'not-installed': { word: 'not installed', help: 'No hook: the rules do not reach this client.', pill: 'neutral' },
}

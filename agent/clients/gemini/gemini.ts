/** What Gemini CLI records of its calls. Its oddities, measured, are in README.md beside this file. */
import type { UsageSource } from '#agent/clients/adapter.ts'
import { changedGeminiSessions } from './changed-chats.ts'
import { type GeminiUsageState, marksOf } from './chat.ts'
import { readGeminiSession } from './chat-file.ts'

export const gemini: UsageSource<GeminiUsageState> = {
  client: 'gemini',
  title: 'Gemini CLI',
  usage: { readSession: readGeminiSession, changedSessions: changedGeminiSessions, marksOf },
}

/** What Gemini CLI records of its calls. Its oddities, measured, are in README.md beside this file. */
import type { UsageSource } from '#agent/clients/adapter.ts'
import { changedGeminiSessions } from './changed-chats.ts'
import { type GeminiUsageState, marksOf } from './chat.ts'
import { readGeminiSession } from './chat-file.ts'

export const gemini: UsageSource<GeminiUsageState> = {
  client: 'gemini',
  title: 'Gemini CLI',
  lacks:
    'Gemini CLI records the answers of its conversations only: calls that choose a model or shorten a conversation, and attempts that failed, are missing',
  usage: { readSession: readGeminiSession, changedSessions: changedGeminiSessions, marksOf },
}

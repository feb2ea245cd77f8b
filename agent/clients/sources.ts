import type { ClientAdapter } from './adapter.ts'
import { claude } from './claude/claude.ts'
import { codex } from './codex/codex.ts'
import { copilot } from './copilot/copilot.ts'
import { cursor } from './cursor/cursor.ts'
import { gemini } from './gemini/gemini.ts'
import { opencode } from './opencode/opencode.ts'
import type { UsageSource } from './usage-source.ts'

/** The clients at whose pause points we decide. Each adapter keeps its own kind of state, and is handed back nothing else. */
export const ADAPTERS: readonly ClientAdapter[] = [
  claude as unknown as ClientAdapter,
  codex as unknown as ClientAdapter,
  gemini as unknown as ClientAdapter,
  copilot as unknown as ClientAdapter,
  opencode as unknown as ClientAdapter,
  cursor,
]

/** The clients whose own records of their calls are read. */
export const USAGE_SOURCES: readonly UsageSource[] = [
  claude as unknown as UsageSource,
  codex as unknown as UsageSource,
  gemini as unknown as UsageSource,
  copilot as unknown as UsageSource,
  opencode as unknown as UsageSource,
]

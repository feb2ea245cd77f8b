/** The real Claude Code on a bench: headless runs, interactive runs, and what came of them. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import {
  type Bench,
  DUMMY_KEY,
  type Finished,
  insideOf,
  PATH,
  put,
  REPOSITORY,
  readIfThere,
  runProcess,
  type StubRequest,
  type StubStep,
} from './bench.ts'
import { startTmux, type Tmux } from './tmux.ts'

/** The pinned client; npm test installs it into this ignored folder. */
export const CLAUDE_VERSION = '2.1.332'
export const CLAUDE_BINARY = join(REPOSITORY, '.clients/claude/node_modules/@anthropic-ai/claude-code-linux-x64/claude')

/** Usage of a response of the default model that costs so many dollars at list price (20 per million output tokens). */
export const usageCosting = (usd: number) => ({ input: 0, output: Math.round(usd * 50_000) })

/** One Bash call that leaves a line in ran.txt, then a closing text. `usage` is that of the first response. */
export const bashScenario = (usage?: StubStep['usage'], command = 'echo ran >> $CWD/ran.txt'): StubStep[] => [
  {
    text: 'I will run it.',
    tools: [{ name: 'Bash', input: { command, description: 'Run it' } }],
    ...(usage ? { usage } : {}),
  },
  { text: 'final: done' },
]

/** Exactly what the client sees; nothing of the caller's environment. */
export function claudeEnv(bench: Bench, extra: Record<string, string> = {}): Record<string, string> {
  return {
    PATH,
    HOME: bench.home,
    TERM: 'xterm-256color',
    LANG: 'C.UTF-8',
    SHELL: '/bin/bash',
    TMPDIR: bench.tmp,
    CLAUDE_CODE_TMPDIR: bench.tmp,
    ANTHROPIC_BASE_URL: bench.stub.url,
    ANTHROPIC_API_KEY: DUMMY_KEY,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_TELEMETRY: '1',
    DISABLE_AUTOUPDATER: '1',
    DISABLE_ERROR_REPORTING: '1',
    DISABLE_BUG_COMMAND: '1',
    ...extra,
  }
}

export type ClaudeRun = {
  /** Follow these steps; a text names one of stub/scenarios.json or one set before. Default `bash`. */
  scenario?: string | StubStep[]
  /** Default: a sentence with the scenario's marker. */
  prompt?: string
  /** Whole text or object of ~/.claude/settings.json; left out, the file stays as it is. */
  settings?: unknown
  /** The same for the project's own settings. */
  projectSettings?: unknown
  env?: Record<string, string>
  /** Tools allowed on the command line. Default Bash. */
  allow?: string[]
  args?: string[]
  timeoutMs?: number
}

/** What the model was told about one call. */
export type ToolResult = { toolUseId: string; isError: boolean; text: string }

export type ClaudeResult = Finished & {
  /** The result JSON of `-p`; undefined when there is none. */
  result:
    | { session_id: string; total_cost_usd: number; terminal_reason: string; permission_denials: unknown[] }
    | undefined
  /** Requests to the model server during this run. */
  requests: StubRequest[]
  toolResults: ToolResult[]
  /** The lines that tool calls left in the project's ran.txt, all runs on this bench. */
  toolCallsRan: string[]
}

export const linesRan = (bench: Bench) => readIfThere(join(bench.project, 'ran.txt'))?.trim().split('\n') ?? []

export function toolResultsOf(requests: StubRequest[]): ToolResult[] {
  const found = new Map<string, ToolResult>()
  for (const message of requests.flatMap(r => r.body?.messages ?? [])) {
    if (!Array.isArray(message.content)) continue
    for (const block of message.content as Record<string, unknown>[]) {
      if (block.type !== 'tool_result') continue
      const text = typeof block.content === 'string' ? block.content : JSON.stringify(block.content)
      const toolUseId = String(block.tool_use_id)
      found.set(toolUseId, { toolUseId, isError: block.is_error === true, text })
    }
  }
  return [...found.values()]
}

async function prepare(bench: Bench, run: ClaudeRun): Promise<string> {
  if (!existsSync(CLAUDE_BINARY))
    throw new Error(`no Claude Code ${CLAUDE_VERSION} at ${CLAUDE_BINARY}; run npm test once`)
  if (run.settings !== undefined) put(join(bench.home, '.claude/settings.json'), run.settings)
  if (run.projectSettings !== undefined) put(join(bench.project, '.claude/settings.json'), run.projectSettings)
  const named = typeof run.scenario === 'string' ? run.scenario : 'bash'
  if (Array.isArray(run.scenario)) await bench.stub.setScenario('given', run.scenario)
  return run.prompt ?? `please run [stub:${Array.isArray(run.scenario) ? 'given' : named}]`
}

/** One headless run (`claude -p`) on a bench that stays. */
export async function runClaudeOn(bench: Bench, run: ClaudeRun = {}): Promise<ClaudeResult> {
  const prompt = await prepare(bench, run)
  const seen = (await bench.stub.requests()).length
  const allowed = run.allow ?? ['Bash']
  const args = ['-p', prompt, '--output-format', 'json', ...(allowed.length ? ['--allowedTools', ...allowed] : [])]
  const [program, ...more] = insideOf(bench, [CLAUDE_BINARY, ...args, ...(run.args ?? [])])
  const finished = await runProcess(program!, more, {
    env: claudeEnv(bench, run.env),
    cwd: bench.project,
    timeoutMs: run.timeoutMs ?? 60_000,
  })
  let result: ClaudeResult['result']
  try {
    result = JSON.parse(finished.stdout)
  } catch {
    result = undefined
  }
  const requests = (await bench.stub.requests()).slice(seen)
  return { ...finished, result, requests, toolResults: toolResultsOf(requests), toolCallsRan: linesRan(bench) }
}

/** The interactive client in a terminal, first-run questions answered. End it with `kill`. */
export async function claudeTui(bench: Bench, run: ClaudeRun = {}): Promise<Tmux & { prompt: string }> {
  const prompt = await prepare(bench, run)
  const project = { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true, allowedTools: [] }
  put(join(bench.home, '.claude.json'), {
    hasCompletedOnboarding: true,
    lastOnboardingVersion: CLAUDE_VERSION,
    theme: 'dark',
    customApiKeyResponses: { approved: [DUMMY_KEY.slice(-20)], rejected: [] },
    projects: { [bench.project]: project },
  })
  const allowed = run.allow ?? ['Bash']
  const command = [CLAUDE_BINARY, ...(allowed.length ? ['--allowedTools', ...allowed] : []), ...(run.args ?? [])]
  const tui = startTmux(bench.dir, command.join(' '), claudeEnv(bench, run.env), bench.project)
  await tui.waitFor('❯')
  return { ...tui, prompt }
}

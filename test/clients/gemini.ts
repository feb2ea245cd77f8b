/** The real Gemini CLI on a bench: headless runs and the chats they leave. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import {
  type Bench,
  DUMMY_KEY,
  type Finished,
  PATH,
  put,
  REPOSITORY,
  runProcess,
  type StubRequest,
  type StubStep,
} from './bench.ts'

/** The pinned client; npm test installs it into this ignored folder. */
export const GEMINI_VERSION = '0.61.0'
export const GEMINI_PROGRAM = join(REPOSITORY, '.clients/gemini/node_modules/@google/gemini-cli/bundle/gemini.js')

/** One shell call, then a closing text. `usage` is that of the two responses. */
export const shellScenario = (first?: StubStep['usage'], second?: StubStep['usage']): StubStep[] => [
  {
    text: 'I will run it.',
    tools: [{ name: 'run_shell_command', input: { command: 'echo ran >> $CWD/ran.txt', description: 'Run it' } }],
    ...(first ? { usage: first } : {}),
  },
  { text: 'final: done', ...(second ? { usage: second } : {}) },
]

/** Exactly what the client sees; nothing of the caller's environment. */
export function geminiEnv(bench: Bench, extra: Record<string, string> = {}): Record<string, string> {
  return {
    PATH,
    HOME: bench.home,
    TERM: 'xterm-256color',
    LANG: 'C.UTF-8',
    SHELL: '/bin/bash',
    TMPDIR: bench.tmp,
    GEMINI_API_KEY: DUMMY_KEY,
    GOOGLE_GEMINI_BASE_URL: bench.stub.url,
    GEMINI_CLI_NO_RELAUNCH: 'true',
    ...extra,
  }
}

/** Writes the settings that a headless run needs; `more` is laid over them. */
export function writeGeminiSettings(bench: Bench, more: Record<string, unknown> = {}): string {
  return put(join(bench.home, '.gemini/settings.json'), {
    security: { auth: { selectedType: 'gemini-api-key' } },
    privacy: { usageStatisticsEnabled: false },
    telemetry: { enabled: false },
    general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
    ...more,
  })
}

export type GeminiRun = {
  /** Follow these steps; a text names a scenario set before. */
  scenario: string | StubStep[]
  args?: string[]
  env?: Record<string, string>
  timeoutMs?: number
}

/** One headless run on a bench that stays. Writes the settings when there are none. */
export async function runGeminiOn(bench: Bench, run: GeminiRun): Promise<Finished & { requests: StubRequest[] }> {
  if (!existsSync(GEMINI_PROGRAM)) throw new Error(`no Gemini CLI ${GEMINI_VERSION}; run npm test once`)
  if (!existsSync(join(bench.home, '.gemini/settings.json'))) writeGeminiSettings(bench)
  const named = typeof run.scenario === 'string' ? run.scenario : 'given'
  if (typeof run.scenario !== 'string') await bench.stub.setScenario(named, run.scenario)
  const seen = (await bench.stub.requests()).length
  const common = ['-m', 'gemini-2.5-flash', '--skip-trust', '--approval-mode', 'yolo', '-o', 'json']
  const args = [GEMINI_PROGRAM, ...common, ...(run.args ?? []), '-p', `please run [stub:${named}]`]
  const finished = await runProcess(process.execPath, args, {
    env: geminiEnv(bench, run.env),
    cwd: bench.project,
    timeoutMs: run.timeoutMs ?? 60_000,
  })
  return { ...finished, requests: (await bench.stub.requests()).slice(seen) }
}

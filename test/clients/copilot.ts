/** The real GitHub Copilot CLI on a bench, offline with a key of its own: headless runs and the events they leave. */
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import {
  type Bench,
  DUMMY_KEY,
  exactly,
  type Finished,
  PATH,
  REPOSITORY,
  readIfThere,
  runProcess,
  type StubRequest,
  type StubStep,
  until,
} from './bench.ts'

/** The pinned client; npm test installs it into this ignored folder. */
export const COPILOT_VERSION = '1.0.102'
const FOLDER = join(REPOSITORY, '.clients/copilot')
export const COPILOT_BINARY = join(FOLDER, `node_modules/@github/copilot-${process.platform}-${process.arch}/copilot`)

/** Exactly what the client sees; nothing of the caller's environment. */
export function copilotEnv(bench: Bench, extra: Record<string, string> = {}): Record<string, string> {
  // it unpacks 235 MB below its home at its first run: the installer's serves all
  const unpacked = join(bench.home, '.cache/copilot')
  mkdirSync(join(FOLDER, 'home/.cache/copilot'), { recursive: true })
  mkdirSync(join(bench.home, '.cache'), { recursive: true })
  if (!existsSync(unpacked)) symlinkSync(join(FOLDER, 'home/.cache/copilot'), unpacked)
  return {
    PATH,
    HOME: bench.home,
    TERM: 'xterm-256color',
    LANG: 'C.UTF-8',
    SHELL: '/bin/bash',
    TMPDIR: bench.tmp,
    COPILOT_OFFLINE: 'true',
    COPILOT_AUTO_UPDATE: 'false',
    COPILOT_PROVIDER_BASE_URL: `${bench.stub.url}/v1`,
    COPILOT_PROVIDER_TYPE: 'openai',
    COPILOT_PROVIDER_API_KEY: DUMMY_KEY,
    COPILOT_MODEL: 'gpt-5.5',
    ...extra,
  }
}

/** The environment that makes it speak with Anthropic's protocol. */
export const anthropicProvider = (bench: Bench, model = 'claude-sonnet-4.5') => ({
  COPILOT_PROVIDER_TYPE: 'anthropic',
  COPILOT_PROVIDER_BASE_URL: bench.stub.url,
  COPILOT_MODEL: model,
})

export type CopilotRun = {
  /** Follow these steps; a text names a scenario set before. */
  scenario: string | StubStep[]
  args?: string[]
  env?: Record<string, string>
  timeoutMs?: number
}

const COMMON = ['--allow-all-tools', '--output-format', 'json', '--disable-client-telemetry']

/** One headless run on a bench that stays. */
export async function runCopilotOn(bench: Bench, run: CopilotRun): Promise<Finished & { requests: StubRequest[] }> {
  if (!existsSync(COPILOT_BINARY)) throw new Error(`no Copilot CLI ${COPILOT_VERSION}; run npm test once`)
  const named = typeof run.scenario === 'string' ? run.scenario : 'given'
  if (typeof run.scenario !== 'string') await bench.stub.setScenario(named, run.scenario)
  const seen = (await bench.stub.requests()).length
  const args = ['-p', `please run [stub:${named}]`, ...COMMON, ...(run.args ?? [])]
  const finished = await runProcess(COPILOT_BINARY, args, {
    env: copilotEnv(bench, run.env),
    cwd: bench.project,
    timeoutMs: run.timeoutMs ?? 60_000,
  })
  return { ...finished, requests: (await bench.stub.requests()).slice(seen) }
}

/**
 * Compacts a session, and ends the client once its events say that this is done: now and then it would wait for ever then, its
 * session open. Returns the requests to the model server.
 */
export async function compactCopilotOn(bench: Bench, session: string): Promise<StubRequest[]> {
  const seen = (await bench.stub.requests()).length
  const events = join(bench.home, '.copilot/session-state', session, 'events.jsonl')
  const child = spawn(COPILOT_BINARY, ['-p', '/compact', ...COMMON, `--resume=${session}`], {
    env: exactly(copilotEnv(bench)),
    cwd: bench.project,
    stdio: 'ignore',
    detached: true,
  })
  const ended = new Promise<void>(resolve => child.once('exit', () => resolve()))
  try {
    await until(
      'the session to be compacted',
      () => readIfThere(events)?.includes('"session.compaction_complete"'),
      60_000,
    )
  } finally {
    try {
      process.kill(-child.pid!, 'SIGKILL')
    } catch {
      // it has ended by itself
    }
    await ended
  }
  return (await bench.stub.requests()).slice(seen)
}

/** The sessions below the client's folder. */
export function copilotSessions(bench: Bench): string[] {
  return readdirSync(join(bench.home, '.copilot/session-state')).filter(name => /^[0-9a-f]{8}-/.test(name))
}

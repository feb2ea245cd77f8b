/** The real opencode on a bench: headless runs and the database they leave. */
import { copyFileSync, existsSync, mkdirSync, symlinkSync } from 'node:fs'
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
export const OPENCODE_VERSION = '1.18.33'
const FOLDER = join(REPOSITORY, '.clients/opencode')
const PLUGIN = join(REPOSITORY, '.clients/opencode-plugin')
export const OPENCODE_BINARY = join(FOLDER, `node_modules/opencode-${process.platform}-${process.arch}/bin/opencode`)

/** A model of each kind of protocol that is built in. */
export const CHAT_MODEL = 'stub/gpt-5.2'
export const ANTHROPIC_MODEL = 'anthropic/claude-opus-4-6'

/** Exactly what the client sees; nothing of the caller's environment. */
export function opencodeEnv(bench: Bench, extra: Record<string, string> = {}): Record<string, string> {
  return {
    PATH,
    HOME: bench.home,
    TERM: 'xterm-256color',
    LANG: 'C.UTF-8',
    SHELL: '/bin/bash',
    TMPDIR: bench.tmp,
    XDG_CONFIG_HOME: join(bench.home, '.config'),
    XDG_DATA_HOME: join(bench.home, '.local/share'),
    XDG_STATE_HOME: join(bench.home, '.local/state'),
    XDG_CACHE_HOME: join(bench.home, '.cache'),
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_SHARE: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
    ...extra,
  }
}

/** Its settings with the scripted server as both kinds of provider, and the package it would fetch into their folder. */
export function writeOpencodeConfig(bench: Bench, more: Record<string, unknown> = {}): void {
  const folder = join(bench.home, '.config/opencode')
  const options = { baseURL: `${bench.stub.url}/v1`, apiKey: DUMMY_KEY }
  const model = { limit: { context: 200_000, output: 32_000 }, tool_call: true, reasoning: true }
  put(join(folder, 'opencode.json'), {
    autoupdate: false,
    share: 'disabled',
    model: CHAT_MODEL,
    small_model: CHAT_MODEL,
    provider: {
      stub: { npm: '@ai-sdk/openai-compatible', name: 'Stub', options, models: { 'gpt-5.2': model } },
      anthropic: { npm: '@ai-sdk/anthropic', name: 'Anthropic', options, models: { 'claude-opus-4-6': model } },
    },
    ...more,
  })
  putOpencodePackage(folder)
}

/** The package that it would fetch into each folder of settings, and wait for. */
export function putOpencodePackage(folder: string): void {
  for (const name of ['package.json', 'package-lock.json']) copyFileSync(join(PLUGIN, name), join(folder, name))
  if (!existsSync(join(folder, 'node_modules'))) symlinkSync(join(PLUGIN, 'node_modules'), join(folder, 'node_modules'))
}

export type OpencodeRun = {
  /** Follow these steps; a text names a scenario set before. */
  scenario: string | StubStep[]
  model?: string
  args?: string[]
  env?: Record<string, string>
  timeoutMs?: number
}

/** One headless run on a bench that stays. */
export async function runOpencodeOn(bench: Bench, run: OpencodeRun): Promise<Finished & { requests: StubRequest[] }> {
  if (!existsSync(OPENCODE_BINARY)) throw new Error(`no opencode ${OPENCODE_VERSION}; run npm test once`)
  mkdirSync(join(bench.home, '.config/opencode'), { recursive: true })
  if (!existsSync(join(bench.home, '.config/opencode/opencode.json'))) writeOpencodeConfig(bench)
  const named = typeof run.scenario === 'string' ? run.scenario : 'given'
  if (typeof run.scenario !== 'string') await bench.stub.setScenario(named, run.scenario)
  const seen = (await bench.stub.requests()).length
  const args = ['run', '-m', run.model ?? CHAT_MODEL, ...(run.args ?? []), `please run [stub:${named}]`]
  const finished = await runProcess(OPENCODE_BINARY, args, {
    env: opencodeEnv(bench, run.env),
    cwd: bench.project,
    timeoutMs: run.timeoutMs ?? 120_000,
  })
  return { ...finished, requests: (await bench.stub.requests()).slice(seen) }
}

/** Its database, where it has one. */
export const opencodeDatabase = (bench: Bench): string => join(bench.home, '.local/share/opencode/opencode.db')

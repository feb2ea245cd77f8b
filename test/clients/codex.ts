/** The real Codex on a bench: headless runs and the session files they leave. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type Bench,
  DUMMY_KEY,
  type Finished,
  insideOf,
  PATH,
  put,
  REPOSITORY,
  runProcess,
  type StubRequest,
  type StubStep,
} from './bench.ts'
import { startTmux, type Tmux } from './tmux.ts'

/** The pinned client; npm test installs it into this ignored folder. */
export const CODEX_VERSION = '0.171.0'
export const CODEX_BINARY = join(
  REPOSITORY,
  '.clients/codex/node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex',
)

export const codexHome = (bench: Bench) => join(bench.home, '.codex')

/** Exactly what the client sees; nothing of the caller's environment. */
export function codexEnv(bench: Bench, extra: Record<string, string> = {}): Record<string, string> {
  return {
    PATH,
    HOME: bench.home,
    CODEX_HOME: codexHome(bench),
    TERM: 'xterm-256color',
    LANG: 'C.UTF-8',
    SHELL: '/bin/bash',
    TMPDIR: bench.tmp,
    STUB_KEY: DUMMY_KEY,
    RUST_LOG: 'warn',
    ...extra,
  }
}

export type CodexConfig = {
  /** Default gpt-5.5. */
  model?: string
  /** Name of the provider in the configuration; default `stub`. */
  provider?: string
  /** TOML before the first table, and tables at the end. */
  top?: string
  tables?: string
}

/** Writes config.toml for the scripted model server. */
export function writeCodexConfig(bench: Bench, config: CodexConfig = {}): string {
  const provider = config.provider ?? 'stub'
  return put(
    join(codexHome(bench), 'config.toml'),
    `model = "${config.model ?? 'gpt-5.5'}"
model_provider = "${provider}"
check_for_update_on_startup = false
${config.top ?? ''}
[analytics]
enabled = false
[feedback]
enabled = false
[features]
plugins = false # else it asks github.com for a list
[model_providers.${provider}]
name = "${provider}"
base_url = "${bench.stub.url}/v1"
env_key = "STUB_KEY"
wire_api = "responses"
requires_openai_auth = false
supports_websockets = false
request_max_retries = 1
stream_max_retries = 1
[projects."${bench.project}"]
trust_level = "trusted"
${config.tables ?? ''}
`,
  )
}

export type CodexRun = {
  /** Follow these steps; a text names a scenario set before. */
  scenario: string | StubStep[]
  /** What `codex exec` is given before the prompt, e.g. `resume ID`. */
  args?: string[]
  env?: Record<string, string>
  timeoutMs?: number
}

export type CodexResult = Finished & {
  /** The thread of the run, from its first line. */
  threadId: string | undefined
  /** Requests to the model server during this run. */
  requests: StubRequest[]
}

/** What both ways to run it begin with: a configuration where there is none, and the prompt that picks the scenario. */
async function prepare(bench: Bench, scenario: CodexRun['scenario']): Promise<string> {
  if (!existsSync(CODEX_BINARY)) throw new Error(`no Codex ${CODEX_VERSION} at ${CODEX_BINARY}; run npm test once`)
  if (!existsSync(join(codexHome(bench), 'config.toml'))) writeCodexConfig(bench)
  if (typeof scenario === 'string') return `please run [stub:${scenario}]`
  await bench.stub.setScenario('given', scenario)
  return 'please run [stub:given]'
}

/** The interactive client in a terminal. End it with `end`. */
export async function startCodexTui(
  bench: Bench,
  run: Pick<CodexRun, 'scenario' | 'env'>,
): Promise<Tmux & { end(): Promise<void> }> {
  const prompt = await prepare(bench, run.scenario)
  // else a daemon is started that outlives it
  const options = '--no-daemon --dangerously-bypass-approvals-and-sandbox'
  const tui = startTmux(bench.dir, `${CODEX_BINARY} ${options} '${prompt}'`, codexEnv(bench, run.env), bench.project)
  const end = async () => {
    tui.sendKeys('C-c')
    tui.sendKeys('C-c')
    try {
      await tui.waitFor('EXITED', 5000)
    } catch {
      // its terminal is closed all the same
    }
    tui.kill()
  }
  return { ...tui, end }
}

/** One headless run (`codex exec`) on a bench that stays. Writes the configuration when there is none. */
export async function runCodexOn(bench: Bench, run: CodexRun): Promise<CodexResult> {
  const prompt = await prepare(bench, run.scenario)
  const seen = (await bench.stub.requests()).length
  const common = ['--json', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox']
  const args = ['exec', ...common, ...(run.args ?? []), prompt]
  const [program, ...more] = insideOf(bench, [CODEX_BINARY, ...args])
  const finished = await runProcess(program!, more, {
    env: codexEnv(bench, run.env),
    cwd: bench.project,
    timeoutMs: run.timeoutMs ?? 60_000,
  })
  const threadId = /"thread_id":"([^"]+)"/.exec(finished.stdout)?.[1]
  return { ...finished, threadId, requests: (await bench.stub.requests()).slice(seen) }
}

/** The session files below a Codex home, sorted by name. */
export function rolloutFiles(home: string): string[] {
  const found: string[] = []
  const walk = (folder: string) => {
    if (!existsSync(folder)) return
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) walk(path)
      else if (entry.name.endsWith('.jsonl')) found.push(path)
    }
  }
  for (const folder of ['sessions', 'archived_sessions']) walk(join(home, folder))
  return found.sort()
}

export const linesOf = (file: string) =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line) as Record<string, unknown>)

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Bench, runProcess, startStub } from '../clients/bench.ts'
import { CODEX_BINARY, codexEnv, writeCodexConfig } from '../clients/codex.ts'
import type { Later } from './undo.ts'

const CALLS = 16

/**
 * Milliseconds between two model requests of the real Codex with one command between them, for each of some fifteen. What a hook
 * adds to a call is the difference to the same without it.
 * @param home the client's home; its hooks.json, as far as there is one, is trusted
 */
export async function timeCodexCalls(later: Later, home: string): Promise<() => Promise<number[]>> {
  const [project, tmp] = [join(home, 'project'), join(home, 'tmp')]
  for (const folder of [project, tmp]) mkdirSync(folder, { recursive: true })
  const stub = await startStub(join(home, 'tmp'), project)
  later(() => stub.stop())
  // it waits for what a command still says; one that says nothing ends at once
  const call = { tools: [{ name: 'exec_command', input: { cmd: 'true', yield_time_ms: 250 } }] }
  await stub.setScenario('bench', [...Array.from({ length: CALLS }, () => call), { text: 'done' }])
  const bench: Bench = { dir: home, home, project, tmp, stub, stop: async () => {} }
  writeCodexConfig(bench)
  return async () => {
    await fetch(`${stub.url}/__stub/requests`, { method: 'DELETE' })
    const args = ['exec', '--json', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox']
    const ran = await runProcess(CODEX_BINARY, [...args, '--dangerously-bypass-hook-trust', 'run it [stub:bench]'], {
      env: codexEnv(bench),
      cwd: project,
      timeoutMs: 60_000,
    })
    const requests = (await stub.requests()) as unknown as { at: number; scenario: string | null }[]
    const at = requests.filter(request => request.scenario === 'bench').map(request => request.at)
    if (ran.exit !== 0 || at.length !== CALLS + 1)
      throw new Error(`Codex ended with ${ran.exit} after ${at.length} requests: ${ran.stderr || ran.stdout}`)
    return at.slice(2).map((moment, i) => moment - at[i + 1]!) // the first call warms up
  }
}

/** Writes one hook for every call into a Codex home. */
export function writeCodexHook(home: string, command: string): void {
  const folder = join(home, '.codex')
  mkdirSync(folder, { recursive: true })
  const hooks = { PreToolUse: [{ hooks: [{ type: 'command', command, timeout: 5 }] }] }
  writeFileSync(join(folder, 'hooks.json'), JSON.stringify({ hooks }))
}

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Bench, runProcess, startStub } from '../clients/bench.ts'
import { CLAUDE_BINARY, claudeEnv } from '../clients/claude.ts'
import type { Later } from './undo.ts'

const CALLS = 21

/**
 * Milliseconds between two model requests of the real Claude Code with one Read call between them, for each of some twenty.
 * What a hook adds to a call is the difference to the same without it.
 * @param home the client's home; its settings say what hooks there are
 */
export async function timeToolCalls(later: Later, home: string): Promise<() => Promise<number[]>> {
  const [project, tmp] = [join(home, 'project'), join(home, 'tmp')]
  for (const folder of [project, tmp]) mkdirSync(folder, { recursive: true })
  writeFileSync(join(project, 'hello.txt'), 'hello world\n')
  const stub = await startStub(home, project)
  later(() => stub.stop())
  const read = { tools: [{ name: 'Read', input: { file_path: join(project, 'hello.txt') } }] }
  await stub.setScenario('bench', [...Array.from({ length: CALLS }, () => read), { text: 'done' }])
  const bench: Bench = { dir: home, home, project, tmp, stub, stop: async () => {} }
  return async () => {
    await fetch(`${stub.url}/__stub/requests`, { method: 'DELETE' })
    const args = ['-p', 'read it [stub:bench]', '--output-format', 'json']
    const ran = await runProcess(CLAUDE_BINARY, args, { env: claudeEnv(bench), cwd: project, timeoutMs: 60_000 })
    const requests = (await stub.requests()) as unknown as { at: number; scenario: string | null }[]
    const at = requests.filter(request => request.scenario === 'bench').map(request => request.at)
    if (ran.exit !== 0 || at.length !== CALLS + 1)
      throw new Error(`Claude Code ended with ${ran.exit} after ${at.length} requests: ${ran.stderr || ran.stdout}`)
    return at.slice(2).map((moment, i) => moment - at[i + 1]!) // the first call warms up
  }
}

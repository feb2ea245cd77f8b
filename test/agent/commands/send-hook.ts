import { readFileSync } from 'node:fs'
import { readHookDoor } from '#agent/daemon-client.ts'
import { askLoopback } from '#agent/hook/loopback.ts'
import type { CommandMachine } from './machine.ts'

/** One tool call of Claude Code at the machine's running daemon, as its hook would send it. Returns the answer's text. */
export async function sendHook(machine: CommandMachine, fields: Record<string, unknown> = {}): Promise<string> {
  const { port, hookToken } = readHookDoor(machine.home)!
  const payload = readFileSync(new URL('../daemon/payloads/PreToolUse.json', import.meta.url), 'utf8')
  const answer = await askLoopback({
    port,
    method: 'POST',
    path: '/hook/claude-code',
    headers: { Authorization: `Bearer ${hookToken}` },
    timeoutMs: 20_000,
    body: JSON.stringify({ ...(JSON.parse(payload) as object), cwd: machine.folder, ...fields }),
  })
  return answer.body
}

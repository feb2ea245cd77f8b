import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import path from 'node:path'
import { REPOSITORY } from '../../test/clients/bench.ts'
import type { Machine } from './machine.ts'

/** What the agent was told about one call: it goes on, or it is refused with a text that names the decision. */
export type Told = { refused: boolean; text: string; handle: string | undefined }

export type AgentSession = {
  /** The session's transcript says that so much more was spent. */
  spend(usd: number): void
  /** What Claude Code posts before a tool call with nobody at the keyboard, as recorded from the real client. */
  call(): Promise<Told>
}

const RECORDED = path.join(REPOSITORY, 'test/clients/payloads/claude/PreToolUse.json')
/** List price of the model below, in dollars a million output tokens. */
const PER_MILLION = 25

/** A session of an agent on a machine whose daemon runs, without the client itself: its transcript and its hook calls. */
export function agentSession(machine: Machine, id: string, project: string): AgentSession {
  const cwd = path.join(machine.home, 'dev', project)
  const folder = path.join(machine.home, '.claude/projects', cwd.replace(/[^A-Za-z0-9]/g, '-'))
  const transcript = path.join(folder, `${id}.jsonl`)
  for (const made of [cwd, folder]) mkdirSync(made, { recursive: true })
  let responses = 0
  let calls = 0
  return {
    spend(usd) {
      const message = {
        id: `msg_${id}_${++responses}`,
        type: 'message',
        role: 'assistant',
        model: 'claude-opus-4-6',
        content: [],
        usage: {
          input_tokens: 0,
          output_tokens: Math.round((usd / PER_MILLION) * 1e6),
          cache_creation_input_tokens: 0,
          cache_read_input_tokens: 0,
        },
      }
      const line = {
        type: 'assistant',
        isSidechain: false,
        sessionId: id,
        requestId: `req_${message.id}`,
        cwd,
        message,
      }
      const text = JSON.stringify({ ...line, timestamp: new Date().toISOString() })
      writeFileSync(transcript, `${text}\n`, { flag: 'a' })
    },
    async call() {
      const door = JSON.parse(readFileSync(path.join(machine.home, '.holdpoint/daemon.json'), 'utf8')) as {
        port: number
        hookToken: string
      }
      const recorded = JSON.parse(readFileSync(RECORDED, 'utf8')) as Record<string, unknown>
      const own = { session_id: id, cwd, transcript_path: transcript, tool_use_id: `toolu_${id}_${++calls}` }
      const text = await post(door, JSON.stringify({ ...recorded, ...own }))
      return { refused: text.includes('"deny"'), text, handle: /bnd-[0-9a-f]{12}/.exec(text)?.[0] }
    },
  }
}

/** Not with fetch: that tells of itself as browsers do, and no browser comes through this door. */
function post({ port, hookToken }: { port: number; hookToken: string }, body: string): Promise<string> {
  const headers = {
    authorization: `Bearer ${hookToken}`,
    'content-type': 'application/json',
    'x-holdpoint-entrypoint': 'sdk-cli',
  }
  return new Promise((resolve, reject) => {
    const address = { host: '127.0.0.1', port, path: '/hook/claude-code', method: 'POST', headers }
    const asked = request(address, response => {
      let text = ''
      response.setEncoding('utf8').on('data', part => {
        text += part
      })
      response.on('end', () => resolve(text))
    })
    asked.on('error', reject)
    asked.end(body)
  })
}

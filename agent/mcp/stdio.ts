import type { Readable, Writable } from 'node:stream'
import { type Answer, type McpSession, RPC } from './session.ts'

/** Far more than a call of these tools needs. */
const LINE_MAX = 1024 * 1024

/** Serves one session over standard input and output, a message a line, until the input ends. Answers keep the order of the questions. */
export async function serveLines(session: McpSession, input: Readable, output: Writable): Promise<void> {
  let rest = ''
  let isTooLong = false
  const write = (answer: Answer | undefined) => {
    if (answer) output.write(`${JSON.stringify(answer)}\n`)
  }
  input.setEncoding('utf8')
  for await (const chunk of input) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop()!
    for (const line of lines) {
      if (isTooLong || line.length > LINE_MAX)
        write({ jsonrpc: '2.0', id: null, error: { code: RPC.invalid, message: 'The message is too long.' } })
      else if (line.trim() !== '') write(await session.answer(line))
      isTooLong = false
    }
    if (rest.length > LINE_MAX) {
      isTooLong = true
      rest = ''
    }
  }
}

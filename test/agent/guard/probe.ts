/** Runs the guard inside the process under test and writes what it said: `node probe.cjs OUT HOME [WORD]`. */
import { renameSync, writeFileSync } from 'node:fs'
import { describeChain, judgeChain, readChain } from '#agent/guard/ancestry.ts'
import { checkPerson, confirmWord, GuardRefused } from '#agent/guard/person.ts'
import { seenAgents } from '#agent/guard/seen-agents.ts'

const [out = '', home = '', word] = process.argv.slice(2)
const chain = readChain(process.pid)
const result: Record<string, unknown> = { names: describeChain(chain), judged: judgeChain(chain, seenAgents(home)) }
try {
  result.person = checkPerson(home)
  if (word) confirmWord('Really?', word)
  result.ok = true
} catch (error) {
  if (!(error instanceof GuardRefused)) throw error
  result.refused = error.code
  result.words = error.message
}
writeFileSync(`${out}.new`, JSON.stringify(result))
renameSync(`${out}.new`, out)

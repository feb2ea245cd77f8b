import { closeSync, mkdirSync, openSync, readFileSync, readSync, statSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { claude } from '#agent/clients/claude/claude.ts'
import type { ChangedSession, UsageState } from '#agent/clients/usage-source.ts'
import { root } from '#server/boot/environment.mjs'
import { type Case, median, type Row } from '../bench.ts'
import { temporaryFolder, withUndo } from '../undo.ts'

const MB = 1024 * 1024
/** What the collector reads before others get their turn. */
const SLICE = 256 * 1024
const SIZES = [256 * MB, 1024 * MB]
const ROUNDS = 5
const AT_LEAST = 0.5
/** What may be held more for four times as much history. */
const FLAT_MB = 32
const RECORDED = join(root, 'test/clients/payloads/claude/transcript.bash.json')
const SESSION = '00000000-0000-4000-8000-000000000001'
const TOOL_OUTPUT = 'The quick brown fox jumps over the lazy dog, and "quotes" and \\backslashes\\ do, too.\n'

/** Reading Claude Code's transcripts, as the collector does, beside JSON.parse of the same lines. */
export const row: Row = {
  name: 'parse',
  run: () =>
    withUndo(async later => {
      const speed = { ours: [] as number[], bare: [] as number[] }
      const peak: number[] = []
      for (const bytes of SIZES) {
        const home = temporaryFolder(later)
        const file = join(home, '.claude/projects/-home-ana-billing', `${SESSION}.jsonl`)
        const calls = writeTranscript(file, bytes)
        const first = bytes === SIZES[0]
        // the large one is for what is held, once; its speed is of one round
        const rounds = first ? ROUNDS : 0
        for (let round = 0; round <= rounds; round++) {
          const ways = [
            () => {
              const { seconds, seen, heldMb } = readAsCollector(home, file)
              if (seen !== calls) throw new Error(`${seen} of ${calls} calls were read`)
              if (round === rounds) peak.push(heldMb)
              if (first && round > 0) speed.ours.push(bytes / MB / seconds)
            },
            () => {
              const seconds = parseLines(file)
              if (first && round > 0) speed.bare.push(bytes / MB / seconds)
            },
          ]
          if (!first) ways.pop()
          for (const way of round % 2 ? ways : ways.reverse()) way()
        }
      }
      const [ours, bare] = [median(speed.ours), median(speed.bare)]
      const [small, large] = peak as [number, number]
      return [
        {
          row: 'parse',
          case: 'transcripts of Claude Code, read for their usage',
          value: ours,
          unit: 'MB/s',
          against: 'JSON.parse of the same lines',
          againstValue: bare,
          ratio: bare / ours,
          must: `${AT_LEAST} of its speed`,
          ok: ours / bare >= AT_LEAST,
        },
        {
          row: 'parse',
          case: `memory held at most while ${SIZES[1]! / MB} MB are read`,
          value: large,
          unit: 'MB',
          against: `while ${SIZES[0]! / MB} MB are read`,
          againstValue: small,
          ratio: large / small,
          must: `at most ${FLAT_MB} MB more`,
          ok: large - small <= FLAT_MB,
        },
      ] satisfies Case[]
    }),
}

/** Recorded lines of a turn over and over, its calls with ids of their own and a tool's output of some kilobytes. Returns how many. */
function writeTranscript(file: string, bytes: number): number {
  const { lines } = JSON.parse(readFileSync(RECORDED, 'utf8')) as { lines: unknown[] }
  const turn = `${lines.map(line => JSON.stringify(line)).join('\n')}\n`
  const ids = [...new Set(turn.match(/(?<=")(?:msg|toolu|req)_\d+(?=")/g) ?? [])]
  const isCall = (id: string) => id.startsWith('msg_')
  mkdirSync(dirname(file), { recursive: true })
  const out = openSync(file, 'w', 0o600)
  let written = 0
  let turns = 0
  while (written < bytes) {
    turns++
    const output = JSON.stringify(TOOL_OUTPUT.repeat(20 + (turns % 60)))
    let text = turn
      .replace('"content":"hi"', () => `"content":${output}`)
      .replace('"stdout":"hi"', () => `"stdout":${output}`)
    for (const id of ids) text = text.replaceAll(`"${id}"`, `"${id}${turns}"`)
    written += writeSync(out, text)
  }
  closeSync(out)
  return turns * ids.filter(isCall).length
}

/** In slices from mark to mark, as the collector reads; what was found goes to nobody. */
function readAsCollector(homeDir: string, transcriptPath: string) {
  const pricing = { rateCard: 'bench', price: () => ({ picoUsd: 0n, fallback: false }) }
  const where: Pick<ChangedSession, 'sessionId' | 'transcriptPath'> = { sessionId: SESSION, transcriptPath }
  const read = (state: UsageState | undefined) =>
    claude.usage.readSession({ homeDir, env: {} }, where, state as never, pricing, { bytes: SLICE })
  let seen = 0
  let last = ''
  let heldMb = 0
  let state: UsageState | undefined
  const started = performance.now()
  for (let slices = 0, more = true; more; slices++) {
    const found = read(state)
    if (!found.fresh) throw new Error(`the transcript could not be read: ${found.problem}`)
    // lines of one response follow one another, over the end of a slice too
    for (const { key } of found.records) {
      if (key !== last) seen++
      last = key
    }
    state = claude.usage.marksOf(found.state)
    more = found.more
    if (slices % 16 === 0) heldMb = Math.max(heldMb, process.memoryUsage.rss() / MB)
  }
  return { seconds: (performance.now() - started) / 1000, seen, heldMb }
}

/** The least that reading can be: whole lines of the file, each parsed and let go. */
function parseLines(file: string): number {
  const size = statSync(file).size
  const buffer = Buffer.allocUnsafe(SLICE * 4)
  const input = openSync(file, 'r')
  const started = performance.now()
  let parsed = 0
  for (let at = 0; at < size; ) {
    const end = buffer.subarray(0, readSync(input, buffer, 0, buffer.length, at)).lastIndexOf(10)
    for (let from = 0; from <= end; ) {
      const to = buffer.indexOf(10, from)
      if (typeof JSON.parse(buffer.toString('utf8', from, to)) === 'object') parsed++
      from = to + 1
    }
    at += end + 1
  }
  closeSync(input)
  if (parsed === 0) throw new Error('there are no lines')
  return (performance.now() - started) / 1000
}

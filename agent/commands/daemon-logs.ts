import { statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { readBytes } from '#agent/home.ts'
import { plain } from '#agent/terminal.ts'
import type { Command } from './command.ts'
import { CommandFailure, EXIT } from './exit.ts'

const LINES = 50
const LINES_MAX = 100_000
const LOOK_MS = 300

export const daemonLogs: Command = {
  name: 'daemon logs',
  summary: 'what the daemon has written down of itself, the newest last',
  options: {
    follow: { type: 'boolean', short: 'f', help: 'go on with what is added, until it is interrupted' },
    lines: { type: 'string', short: 'n', value: 'N', help: `how many lines (default ${LINES})` },
  },
  about:
    'Prints the end of daemon.log: starts, troubles with the control plane, with files and with hooks. It holds no prompt, no tool’s input and no token. Decisions are in the journal: see `holdpoint explain`.',
  examples: [
    ['holdpoint daemon logs -n 20', 'the newest twenty lines'],
    ['holdpoint daemon logs -f', 'and what comes'],
  ],
  async run({ flags, home, json, terminal }) {
    const n = flags.lines === undefined ? LINES : Number(flags.lines)
    if (!Number.isInteger(n) || n < 0 || n > LINES_MAX)
      throw new CommandFailure('usage', 'usage', `\`--lines\` wants a whole number up to ${LINES_MAX}.`)
    if (json && flags.follow === true)
      throw new CommandFailure('usage', 'usage', '`--json` prints one value; `--follow` never ends.')
    const bytes = readBytes(home.log)
    if (!bytes && flags.follow !== true) {
      const there = statSync(home.log, { throwIfNoEntry: false })
      throw new CommandFailure(
        'missing',
        'no_log',
        there ? `${home.log} cannot be read.` : `There is no ${home.log}: the daemon has had nothing to say yet.`,
      )
    }
    const lines = linesOf(bytes)
    const newest = n === 0 ? [] : lines.slice(-n)
    if (json) {
      terminal.json({ file: home.log, lines: newest.map(line => plain(line)) })
      return EXIT.ok
    }
    for (const line of newest) terminal.line(plain(line))
    for (let seen = bytes?.length ?? 0; flags.follow === true; await sleep(LOOK_MS)) {
      const now = readBytes(home.log)
      // begun anew: the daemon keeps its log short
      if ((now?.length ?? 0) < seen) seen = 0
      const whole = now?.subarray(seen, now.lastIndexOf(10) + 1)
      if (!whole || whole.length === 0) continue
      for (const line of linesOf(whole)) terminal.line(plain(line))
      seen += whole.length
    }
    return EXIT.ok
  },
}

const linesOf = (bytes: Buffer | undefined): string[] =>
  (bytes?.toString('utf8') ?? '').split('\n').filter(line => line !== '')

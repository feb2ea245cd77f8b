import { examine } from '#agent/doctor/examine.ts'
import type { Finding } from '#agent/doctor/finding.ts'
import { count, plain, type Terminal } from '#agent/terminal.ts'
import { type Command, fold } from './command.ts'
import { EXIT } from './exit.ts'
import { VERSION } from './version.ts'

export const doctor: Command = {
  name: 'doctor',
  summary: 'find what is set up wrongly here, say why it matters, and how to mend it',
  about:
    'Looks at this machine: Node.js, the home and its disk, the daemon and what may stand in its place, the hooks of every agent program that is here (with a test event through each), your rules and the organisation’s, the figures they read, the proxy. For each thing that is off it says what, why it matters, and the command that mends it. Changes nothing. Exit code 0 when nothing is off, 1 when something is.',
  examples: [
    ['holdpoint doctor', 'something does not hold as it should'],
    ['holdpoint doctor --json', 'for a script: codes that stay the same'],
  ],
  async run({ home, json, terminal }) {
    const { findings } = await examine(home, VERSION)
    const off = findings.filter(({ severity }) => severity === 'off')
    if (json) terminal.json({ ok: off.length === 0, findings })
    else print(terminal, findings, off.length)
    return off.length === 0 ? EXIT.ok : EXIT.failed
  },
}

function print(terminal: Terminal, findings: readonly Finding[], off: number): void {
  for (const { severity, what, why, fix, todo } of findings) {
    const [first = '', ...rest] = fold(plain(what), 88, '  ')
    const mark = severity === 'off' ? terminal.paint('red', '!') : terminal.paint('dim', '-')
    terminal.line(`${mark} ${first.slice(2)}`)
    for (const line of [...rest, ...fold(why, 88, '  ')]) terminal.line(line)
    if (fix) terminal.line(`  ${terminal.paint('bold', fix)}`)
    if (todo && todo !== what) for (const line of fold(plain(todo), 88, '  ')) terminal.line(line)
    terminal.line()
  }
  terminal.line(off === 0 ? 'Nothing is off.' : `${count(off, 'thing')} off.`)
}

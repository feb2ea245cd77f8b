import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ALL } from '#agent/commands/all.ts'
import { proxyFor } from '#agent/commands/canary.ts'
import { ceilingWords, figureWords, valueWords } from '#agent/commands/decision.ts'
import { lineDiff } from '#agent/commands/diff.ts'
import { columns, plain, span } from '#agent/terminal.ts'
import { CommandMachine } from './machine.ts'

let machine: CommandMachine
beforeAll(async () => {
  machine = new CommandMachine()
  await machine.install()
})
afterAll(() => machine.remove())

describe('the command line', () => {
  it('lists every command, and explains each with an example of its own', async () => {
    const { stdout, code } = await machine.run(['help'])
    expect(code).toBe(0)
    for (const command of ALL) expect(stdout).toContain(`  ${command.name}`)
    for (const { name, examples, about } of ALL) {
      expect(examples.length, name).toBeGreaterThan(0)
      for (const [line] of examples) expect(line, name).toContain(name === 'install' ? 'install' : `holdpoint ${name}`)
      expect(about.length, name).toBeGreaterThan(40)
    }
  })

  it('--help prints usage and never runs the command', async () => {
    const ran = await machine.run(['daemon', 'start', '--help'])
    expect(ran).toMatchObject({ code: 0, stderr: '' })
    expect(ran.stdout).toContain('Example')
    expect((await machine.run(['daemon', 'status'])).code).toBe(4)
  })

  it.each([
    [['daemom'], 'Did you mean `holdpoint daemon`?'],
    [['boundaries', 'promot', 'x'], 'Did you mean `holdpoint boundaries promote`?'],
    [['hooks', 'install', '--dryrun'], 'Did you mean `--dry-run`?'],
    [['approve', 'bnd-0123456789ab', '--sesion'], 'Did you mean `--session`?'],
    [['approve'], 'See `holdpoint approve --help`'],
    [['explain', 'bnd-0123456789ab', 'more'], 'one argument too many'],
    [['hooks', 'install', '--client'], '`--client` wants NAME'],
    [['hooks', 'install', '--dry-run=yes'], '`--dry-run` takes no value'],
    [['join', '--label', 'a', '--label', 'b'], 'stands twice'],
    [['install', '--label', 'x'], '`--label` goes with `--join`'],
    [['install', '--trust-on-first-use'], '`--trust-on-first-use` goes with `--join`'],
    [['team'], ''],
    [[], ''],
  ])('%j is refused as written wrongly, with the nearest right thing', async (args, words) => {
    const ran = await machine.run(args)
    expect(ran.code).toBe(2)
    expect(ran.stderr).toContain(words)
  })

  it('lists what the exit codes mean', async () => {
    const { stdout } = await machine.run(['help', 'exit-codes'])
    for (const code of [0, 1, 2, 3, 4, 5]) expect(stdout).toMatch(new RegExp(`^ {2}${code} {2}\\S`, 'm'))
  })

  it('prints no colour where nobody looks, nor with NO_COLOR', async () => {
    expect((await machine.run(['help'])).stdout).not.toContain('\u001b')
    expect((await machine.type(['help'], '', { TERM: 'xterm' })).screen).toContain('\u001b[1m')
    expect((await machine.type(['help'], '', { TERM: 'xterm', NO_COLOR: '1' })).screen).not.toContain('\u001b[1m')
  })
})

describe('what is printed', () => {
  it('takes out what could move the cursor, hide text or turn its direction', () => {
    expect(plain('a\u001b]0;title\u0007b\u001b[31mc\u202ed\u2066e\u200bf\r\ng\u0000')).toBe('abcdef g')
    expect(plain('日本語 é ß')).toBe('日本語 é ß')
  })

  it('puts cells under each other', () => {
    expect(
      columns(
        [
          ['a', 'b'],
          ['long', 'c'],
        ],
        ' ',
      ),
    ).toEqual([' a     b', ' long  c'])
  })

  it('says spans and money as people do', () => {
    expect([span(5), span(300), span(7200), span(200_000)]).toEqual(['5 s', '5 min', '2 h', '2 days'])
    expect([
      valueWords('20.1', 'usd'),
      valueWords('20.000000', 'usd'),
      valueWords('22.002656', 'usd'),
      valueWords('0.123456', 'usd'),
      valueWords('95', 'pct'),
      valueWords('opus', 'tier'),
      valueWords('unread', ''),
    ]).toEqual(['$20.10', '$20.00', '$22.01', '$0.1235', '95%', 'opus', 'could not be read'])
    expect(ceilingWords([{ figure: 'session_cost_usd', op: '<', value: '40' }])).toBe('session cost is below $40.00')
    expect(
      figureWords({ name: 'session_cost_usd', value: '22.002656', unit: 'usd', op: '>=', threshold: '21.000001' }),
    ).toBe('session cost $22.01 (the rule: >= $21.000001)')
  })

  it('shows the lines that change, with a little around them', () => {
    expect(lineDiff('a\nb\nc\nd\ne\nf\n', 'a\nb\nc\nd\nE\nf\n', 1)).toEqual([' d', '-e', '+E', ' f'])
    expect(lineDiff('', 'a\n')).toEqual(['+a'])
    expect(lineDiff('same\n', 'same\n')).toEqual([])
  })
})

describe('whether a proxy would carry a hook', () => {
  const url = new URL('http://127.0.0.1:7421/hook/claude-code')
  it.each([
    [{}, false],
    [{ HTTP_PROXY: 'http://proxy:3128' }, true],
    [{ https_proxy: 'http://proxy:3128' }, true],
    [{ all_proxy: 'socks5://proxy' }, true],
    [{ HTTP_PROXY: 'http://proxy', NO_PROXY: '127.0.0.1', no_proxy: '127.0.0.1' }, false],
    [{ HTTP_PROXY: 'http://proxy', NO_PROXY: '*' }, false],
    [{ HTTP_PROXY: 'http://proxy', NO_PROXY: '127.0.0.1', no_proxy: '' }, true],
    [{ HTTP_PROXY: 'http://proxy', NO_PROXY: 'localhost' }, true],
    [{ HTTP_PROXY: 'http://proxy', NO_PROXY: 'example.com, 127.0.0.1:7421' }, false],
    [{ HTTP_PROXY: 'http://proxy', NO_PROXY: '127.0.0.1:80' }, true],
    [{ HTTP_PROXY: '', http_proxy: '' }, false],
  ] as [Record<string, string>, boolean][])('%j: %s', (env, carried) => {
    expect(proxyFor(url, env) !== undefined).toBe(carried)
  })
})

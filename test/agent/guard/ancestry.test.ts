import { describe, expect, it } from 'vitest'
import { type Chain, judgeChain, type ProcessLink, readChain } from '#agent/guard/ancestry.ts'

const link = (pid: number, argv: string[], exe = argv[0]!): ProcessLink => ({
  pid,
  parent: pid - 1,
  name: exe.split('/').at(-1)!.slice(0, 15),
  argv,
  exe,
})
const chain = (...links: ProcessLink[]): Chain => ({ readable: true, links })
const cli = link(90, ['node', '/home/dev/.holdpoint/bin/holdpoint.cjs', 'approve'], '/usr/bin/node')
const login = link(50, ['-zsh'], '/usr/bin/zsh')

describe('judging a chain of ancestors', () => {
  it.each([
    ['an agent’s own binary', link(70, ['claude'], '/home/dev/.local/share/claude/versions/2.1.332')],
    ['an agent renamed by its own title', { ...link(70, ['x'], '/usr/bin/x'), name: 'claude' }],
    ['codex from npm', link(70, ['node', '/usr/lib/node_modules/@openai/codex/bin/codex.js'], '/usr/bin/node')],
    [
      'gemini through node’s options',
      link(70, ['node', '--no-warnings', '/usr/lib/node_modules/@google/gemini-cli/dist/index.js'], '/usr/bin/node'),
    ],
    ['opencode', link(70, ['/home/dev/.opencode/bin/opencode'])],
    ['copilot', link(70, ['copilot'], '/usr/local/bin/copilot')],
    ['cursor’s agent', link(70, ['/home/dev/.local/bin/cursor-agent'])],
    ['a script run by bun', link(70, ['bun', '/home/dev/.bun/bin/claude'], '/usr/bin/bun')],
    ['an agent above the login shell', link(40, ['claude'], '/usr/bin/claude')],
  ])('refuses %s', (_, agent) => {
    const links = agent.pid < 50 ? [cli, login, agent] : [cli, agent, login]
    expect(judgeChain(chain(...links))).toMatchObject({ ok: false, code: 'agent' })
  })

  it.each([
    ['a login shell', login, 'login shell'],
    ['an ssh session', link(50, ['sshd: dev [priv]'], '/usr/sbin/sshd'), 'sign-in'],
    [
      'newer OpenSSH’s session process',
      link(50, ['sshd-session: dev@pts/0'], '/usr/lib/openssh/sshd-session'),
      'sign-in',
    ],
    [
      'an ssh daemon whose program may not be read',
      { pid: 50, parent: 1, name: 'sshd', argv: ['sshd: dev@pts/3'] },
      'sign-in',
    ],
    ['the console’s login', { pid: 50, parent: 1, name: 'login', argv: ['login', '-p', '--'] }, 'sign-in'],
    ['a terminal window', link(50, ['/usr/libexec/gnome-terminal-server']), 'terminal'],
    [
      'tmux, whose server names itself',
      { pid: 50, parent: 1, name: 'tmux: server', argv: ['tmux', 'new'], exe: '/usr/bin/tmux' },
      'terminal',
    ],
    [
      'a macOS terminal',
      {
        pid: 50,
        parent: 1,
        name: 'Terminal',
        argv: [],
        exe: '/System/Applications/Utilities/Terminal.app/Contents/MacOS/Terminal',
      },
      'terminal',
    ],
  ] as [string, ProcessLink, string][])('accepts %s', (_, anchor, what) => {
    expect(judgeChain(chain(cli, link(60, ['bash'], '/usr/bin/bash'), anchor))).toMatchObject({
      ok: true,
      anchor: what,
    })
  })

  it('refuses an editor’s terminal, which its agents type into as well', () => {
    expect(
      judgeChain(chain(cli, link(60, ['bash'], '/bin/bash'), link(50, ['/usr/share/code/code', '--type=utility']))),
    ).toMatchObject({ ok: false, code: 'no_terminal' })
  })

  it('a folder or an argument that merely names an agent refuses nobody', () => {
    const shell = link(60, ['bash', '-c', 'cd /home/dev/claude && vim codex'], '/bin/bash')
    const script = link(61, ['node', '/home/dev/claude-notes/build.js', 'claude'], '/usr/bin/node')
    expect(judgeChain(chain(cli, script, shell, login))).toMatchObject({ ok: true })
  })

  it('refuses a process that a hook has seen, whatever it is called', () => {
    expect(judgeChain(chain(cli, link(70, ['helper']), login), new Set([70]))).toMatchObject({
      ok: false,
      code: 'seen_agent',
    })
    expect(judgeChain(chain(cli, link(70, ['helper']), login), new Set([71]))).toMatchObject({ ok: true })
  })

  it('says that it could not check where a system does not tell', () => {
    expect(judgeChain({ readable: false, why: 'Windows' })).toMatchObject({ ok: true, anchor: 'not checked' })
  })

  it('refuses a process that is gone, which the daemon may meet', () => {
    expect(judgeChain(readChain(2 ** 22 + 12345))).toMatchObject({ ok: false, code: 'gone' })
  })

  it.skipIf(process.platform !== 'linux')('reads this very process first and ends at the first one', () => {
    const read = readChain(process.pid)
    if (!read.readable) throw new Error(read.why)
    expect(read.links[0]!.pid).toBe(process.pid)
    expect(read.links[0]!.argv.length).toBeGreaterThan(0)
    expect(read.links.every((one, i) => i === 0 || one.pid === read.links[i - 1]!.parent)).toBe(true)
  })
})

/** Hooks that an administrator sets for every user, with the real Claude Code and Codex in a private /etc. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { CommandMachine, PlaneWithDoors } from '../agent/commands/machine.ts'
import { RULE } from '../agent/daemon/organisation.ts'
import { type Bench, runProcess, startBench } from './bench.ts'
import { bashScenario, linesRan, runClaudeOn, usageCosting } from './claude.ts'
import { runCodexOn } from './codex.ts'
import { mayOverlay, openPrivateEtc, type PrivateEtc } from './private-etc.ts'

// a run takes a second or two alone and far longer beside a build
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

describe.runIf(mayOverlay)('hooks that an administrator has set', () => {
  let etc: PrivateEtc
  let machine: CommandMachine
  let plane: PlaneWithDoors
  let bench: Bench
  const run = (words: string[], env: Record<string, string> = {}) => {
    const [program, ...args] = [...etc.inside, ...words]
    return runProcess(program!, args, { env: { ...machine.env, ...env }, cwd: machine.folder })
  }
  const holdpoint = async (...args: string[]) => {
    const ran = await run([process.execPath, join(machine.home.bin, 'holdpoint.cjs'), ...args])
    return {
      ...ran,
      json: ran.stdout.startsWith('{') || ran.stdout.startsWith('[') ? JSON.parse(ran.stdout) : undefined,
    }
  }
  const sh = async (script: string) => {
    const ran = await run(['sh', '-c', script])
    if (ran.exit !== 0) throw new Error(ran.stderr)
    return ran.stdout
  }
  const levels = async () => {
    const { json } = await holdpoint('boundaries', 'status', '--json')
    return Object.fromEntries(
      (json.clients as { client: string; level: string }[]).map(({ client, level }) => [client, level]),
    )
  }

  beforeAll(async () => {
    etc = await openPrivateEtc()
    machine = new CommandMachine()
    plane = new PlaneWithDoors()
    await machine.install()
    await plane.listen()
    bench = { ...(await startBench({ home: machine.folder })), inside: etc.inside }
    // whose home it is, the system's list of users says there, and no variable
    await sh(`sed -i 's#^root:.*#root:x:0:0:root:${machine.folder}:/bin/sh#' /etc/passwd`)
    writeFileSync(machine.home.config, RULE('deny'))
    expect((await holdpoint('daemon', 'start')).exit).toBe(0)
    await sh(
      'mkdir -p /etc/codex && printf \'allowed_approval_policies = ["never"]\\n\' > /etc/codex/requirements.toml',
    )
    const installed = await holdpoint('hooks', 'install', '--managed')
    expect([installed.exit, installed.stderr]).toEqual([0, ''])
  })
  afterAll(async () => {
    await machine?.remove()
    await bench?.stop()
    await plane?.close()
    await etc?.end()
  })

  test('are files of root that others only read, beside what stood there, and twice is the same', async () => {
    const files =
      '/etc/claude-code/managed-settings.d/holdpoint.json /etc/codex/requirements.toml /etc/github-copilot/policy.d/holdpoint.json'
    expect(
      (await sh(`stat -c '%u %a' ${files} /etc/claude-code /etc/holdpoint/holdpoint-hook.cjs`)).split('\n'),
    ).toEqual(['0 644', '0 644', '0 644', '0 755', '0 755', ''])
    const requirements = await sh('cat /etc/codex/requirements.toml')
    expect(requirements).toMatch(/^allowed_approval_policies = \["never"\]\n\n# holdpoint begin/)
    expect(requirements).toContain('[features]\nhooks = true')
    const settings = JSON.parse(await sh('cat /etc/claude-code/managed-settings.d/holdpoint.json'))
    expect(settings).toMatchObject({
      allowModsToOverrideDenyRules: false,
      env: { NO_PROXY: expect.stringContaining('127.0.0.1'), no_proxy: expect.stringContaining('127.0.0.1') },
    })
    const before = await sh(`cat ${files}`)
    const again = await holdpoint('hooks', 'install', '--managed', '--json')
    expect(again.json.clients.map(({ changes }: { changes: unknown[] }) => changes)).toEqual([[], [], []])
    expect(await sh(`cat ${files}`)).toBe(before)
    // the outside has seen nothing of it
    expect(() => readFileSync('/etc/holdpoint/holdpoint-hook.cjs')).toThrow()
  })

  test('refuse in Claude Code although its user, its project and its flags switch hooks off', async () => {
    const off = { disableAllHooks: true }
    const ran = await runClaudeOn(bench, {
      scenario: bashScenario(usageCosting(21)),
      settings: off,
      projectSettings: off,
      args: ['--settings', JSON.stringify(off)],
    })
    expect(ran.toolResults).toMatchObject([{ isError: true, text: expect.stringContaining('$21.0') }])
    expect(linesRan(bench)).toEqual([])
    const bare = await runClaudeOn(bench, { scenario: bashScenario(usageCosting(21)), args: ['--bare'] })
    expect(bare.toolResults).toMatchObject([{ isError: true, text: expect.stringContaining('$21.0') }])
    expect(linesRan(bench)).toEqual([])
  })

  test('refuse in Codex although it was started with hooks switched off', async () => {
    const exec = { name: 'exec_command', input: { cmd: `echo ran >> ${bench.project}/ran.txt` } }
    const scenario = [{ tools: [exec] }, { text: 'final: done' }]
    writeFileSync(machine.home.config, RULE('deny', 0))
    const ran = await runCodexOn(bench, { scenario, args: ['--disable', 'hooks'] })
    expect(ran.stderr).toContain('Command blocked by PreToolUse hook: Stopped by the boundary session-spend')
    expect([ran.exit, linesRan(bench)]).toEqual([0, []])
  })

  test('are told as a managed hook whose daemon is the user’s, and as a user’s when others may write them', async () => {
    expect(await levels()).toMatchObject({
      'claude-code': 'managed-hook-user-daemon',
      codex: 'managed-hook-user-daemon',
      copilot: 'managed-hook-user-daemon',
      opencode: 'not-installed',
      gemini: 'not-installed',
    })
    const own = await holdpoint('hooks', 'install', '--client', 'codex')
    expect([own.exit, own.stdout]).toEqual([0, expect.stringContaining('managed hook: set for every user')])
    expect(existsSync(join(machine.folder, '.codex/hooks.json'))).toBe(false)
    await sh('chmod 0666 /etc/claude-code/managed-settings.d/holdpoint.json; chmod 0777 /etc/codex')
    const after = await levels()
    expect(after['claude-code']).not.toMatch(/^managed/)
    expect(after.codex).not.toMatch(/^managed/)
    const status = await holdpoint('hooks', 'status', '--client', 'codex')
    expect(status.stdout).toContain('the managed hook does NOT hold')
    expect(status.stdout).toContain('/etc/codex may be written by others than root')
    await sh('chmod 0644 /etc/claude-code/managed-settings.d/holdpoint.json; chmod 0755 /etc/codex')
  })

  test('are set and taken out by root only, and taking them out asks for a person', async () => {
    const [program, ...args] = etc.inside
    const node = `${process.execPath} ${join(machine.home.bin, 'holdpoint.cjs')}`
    await sh(`chmod 0755 ${machine.folder} && chmod -R a+rX ${machine.home.bin} && chmod a+x ${machine.home.root}`)
    const nobody = `setpriv --reuid 65534 --clear-groups env HOME=/tmp/nobody-there HOLDPOINT_HOME=/tmp/nobody-there ${node} hooks install --managed`
    const refused = await runProcess(program!, [...args, 'sh', '-c', nobody], { env: machine.env, cwd: machine.folder })
    expect([refused.exit === 0, refused.stderr]).toEqual([false, expect.stringContaining('only root can set them')])
    await sh(`chmod 0700 ${machine.home.root} ${machine.folder}`)
    const alone = await holdpoint('hooks', 'uninstall', '--managed')
    expect(alone.exit).not.toBe(0)
    expect(await sh('cat /etc/codex/requirements.toml')).toContain('# holdpoint begin')
  })

  test('are not put into a file that has hooks of its own: what to add is said', async () => {
    await sh('printf \'[hooks]\\nmanaged_dir = "/opt"\\n\' > /etc/codex/requirements.toml')
    const refused = await holdpoint('hooks', 'install', '--managed', '--client', 'codex')
    expect(refused.exit).not.toBe(0)
    expect(refused.stderr).toContain('the file has hooks of its own')
    expect(refused.stderr).toContain('[[hooks.PreToolUse]]')
    expect(await sh('cat /etc/codex/requirements.toml')).toBe('[hooks]\nmanaged_dir = "/opt"\n')
  })
})

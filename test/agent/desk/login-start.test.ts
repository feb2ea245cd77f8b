import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { type ServiceInput, serviceFor } from '#agent/desk/login-start.ts'

const UNIX: ServiceInput = {
  homeDir: '/home/dev',
  root: '/home/dev/.holdpoint',
  isDefaultRoot: true,
  node: '/usr/bin/node',
  program: '/home/dev/.holdpoint/bin/holdpoint.cjs',
  log: '/home/dev/.holdpoint/daemon.log',
  uid: 501,
}
const ODD: ServiceInput = {
  ...UNIX,
  root: '/srv/a "b" $c %d\\e & <f>',
  isDefaultRoot: false,
  program: '/srv/a "b" $c %d\\e & <f>/bin/holdpoint.cjs',
}
const WINDOWS: ServiceInput = {
  homeDir: 'C:\\Users\\dev',
  root: 'C:\\Users\\dev\\.holdpoint',
  isDefaultRoot: true,
  node: 'C:\\Program Files\\nodejs\\node.exe',
  program: 'C:\\Users\\dev\\.holdpoint\\bin\\holdpoint.cjs',
  log: '',
  user: 'ACME\\dev & co',
}
const text = (platform: NodeJS.Platform, input: ServiceInput) => serviceFor(platform, input)!.bytes.toString('utf8')

test('on Linux a systemd user unit, word for word', () => {
  const service = serviceFor('linux', UNIX)!
  expect(service.file).toBe('/home/dev/.config/systemd/user/holdpoint.service')
  expect(serviceFor('linux', { ...UNIX, configHome: '/cfg' })!.file).toBe('/cfg/systemd/user/holdpoint.service')
  expect(text('linux', UNIX)).toBe(`[Unit]
Description=Holdpoint daemon: judges the calls of agents on this machine
StartLimitIntervalSec=60
StartLimitBurst=5

[Service]
ExecStart="/usr/bin/node" "/home/dev/.holdpoint/bin/holdpoint.cjs" daemon
Restart=on-failure
RestartSec=2
UMask=0077

[Install]
WantedBy=default.target
`)
  expect([...service.enable, ...service.start, ...service.disable].map(words => words.join(' '))).toEqual([
    'systemctl --user daemon-reload',
    'systemctl --user enable holdpoint.service',
    'systemctl --user start holdpoint.service',
    'systemctl --user disable --now holdpoint.service',
  ])
})

test('what a path may hold cannot say anything else in the unit', () => {
  const unit = text('linux', ODD)
  expect(unit).toContain('"/srv/a \\"b\\" $$c %%d\\\\e & <f>/bin/holdpoint.cjs" daemon\n')
  expect(unit).toContain('Environment="HOLDPOINT_HOME=/srv/a \\"b\\" $c %%d\\\\e & <f>"\n')
  for (const platform of ['linux', 'darwin', 'win32'] as const)
    expect(() => serviceFor(platform, { ...WINDOWS, program: '/a\nExecStartPre=/bin/x' })).toThrow(TypeError)
})

const hasAnalyze = (() => {
  try {
    execFileSync('systemd-analyze', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
})()

test.runIf(hasAnalyze)('systemd itself finds nothing wrong in the unit, with plain paths and with odd ones', () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdpoint unit-'))
  try {
    const service = serviceFor('linux', { ...ODD, node: process.execPath })!
    const file = join(folder, basename(service.file))
    writeFileSync(file, service.bytes)
    const said = execFileSync('systemd-analyze', ['--user', 'verify', '--man=no', file], {
      encoding: 'utf8',
      stdio: 'pipe',
      env: { ...process.env, XDG_RUNTIME_DIR: folder },
    })
    expect(said.trim()).toBe('')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('on macOS a launchd agent, word for word', () => {
  const service = serviceFor('darwin', UNIX)!
  expect(service.file).toBe('/home/dev/Library/LaunchAgents/com.holdpoint.daemon.plist')
  expect(text('darwin', UNIX)).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>com.holdpoint.daemon</string>
  <key>ProgramArguments</key>
  <array>
    <string>/usr/bin/node</string>
    <string>/home/dev/.holdpoint/bin/holdpoint.cjs</string>
    <string>daemon</string>
  </array>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict><key>SuccessfulExit</key><false/></dict>
  <key>ThrottleInterval</key>
  <integer>10</integer>
  <key>Umask</key>
  <integer>63</integer>
  <key>StandardErrorPath</key>
  <string>/home/dev/.holdpoint/daemon.log</string>
</dict>
</plist>
`)
  expect(text('darwin', ODD)).toContain('<string>/srv/a &quot;b&quot; $c %d\\e &amp; &lt;f&gt;</string></dict>')
  expect([...service.start, ...service.disable].map(words => words.join(' '))).toEqual([
    'launchctl bootstrap gui/501 /home/dev/Library/LaunchAgents/com.holdpoint.daemon.plist',
    'launchctl bootout gui/501/com.holdpoint.daemon',
  ])
})

test('on Windows a task at logon, in the form that schtasks reads', () => {
  const service = serviceFor('win32', WINDOWS)!
  expect([...service.bytes.subarray(0, 2)]).toEqual([0xff, 0xfe])
  const task = service.bytes.subarray(2).toString('utf16le')
  expect(task).toContain('<?xml version="1.0" encoding="UTF-16"?>\r\n')
  for (const part of [
    '<LogonTrigger><Enabled>true</Enabled><UserId>ACME\\dev &amp; co</UserId></LogonTrigger>',
    '<RunLevel>LeastPrivilege</RunLevel>',
    '<ExecutionTimeLimit>PT0S</ExecutionTimeLimit>',
    '<MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>',
    '<RestartOnFailure><Interval>PT1M</Interval><Count>10</Count></RestartOnFailure>',
    '<Command>C:\\Program Files\\nodejs\\node.exe</Command>',
    '<Arguments>&quot;C:\\Users\\dev\\.holdpoint\\bin\\holdpoint.cjs&quot; daemon</Arguments>',
  ])
    expect(task).toContain(part)
  expect(service.enable).toEqual([
    ['schtasks', '/Create', '/TN', 'Holdpoint daemon', '/XML', 'C:\\Users\\dev\\.holdpoint\\daemon-task.xml', '/F'],
  ])
  expect(() => serviceFor('win32', { ...WINDOWS, isDefaultRoot: false })).toThrow('HOLDPOINT_HOME')
})

test('another system is told that there is no way, and not given one that may not work', () => {
  expect(serviceFor('aix', UNIX)).toBeUndefined()
})

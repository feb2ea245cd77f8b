/** How each system is told to start the daemon when its user logs in, and again when it fails. Texts and commands only. */
import { posix, win32 } from 'node:path'

/** What the daemon is started with. Paths are absolute and in the system's own form. */
export type ServiceInput = {
  homeDir: string
  /** The folder of this machine's files, and whether it is the one that is taken without being told. */
  root: string
  isDefaultRoot: boolean
  node: string
  program: string
  log: string
  /** Linux: XDG_CONFIG_HOME where it is set. macOS: the user's number. Windows: DOMAIN\user. */
  configHome?: string | undefined
  uid?: number | undefined
  user?: string | undefined
}

export type Service = {
  /** What it is called: `systemd user unit`. */
  kind: string
  name: string
  file: string
  bytes: Buffer
  /** Whether the system's part is there and answers, each a command that must end with 0. */
  probe: string[]
  /** After the file was written, each in turn. */
  enable: string[][]
  start: string[][]
  /** Before it is taken away; one that fails is passed over. */
  disable: string[][]
  /** What it does not do, for the person. */
  note: string
}

const SYSTEMD_UNIT = 'holdpoint.service'
const LAUNCHD_LABEL = 'com.holdpoint.daemon'
const TASK_NAME = 'Holdpoint daemon'

/** Undefined for a system that none of this is for. @throws TypeError for a value that its format cannot hold */
export function serviceFor(platform: NodeJS.Platform, input: ServiceInput): Service | undefined {
  if (platform === 'linux') return systemd(input)
  if (platform === 'darwin') return launchd(input)
  return platform === 'win32' ? taskScheduler(input) : undefined
}

/** A line break would begin a line of its own, which could say anything. */
function oneLine(text: string): string {
  if (/[\u0000-\u001f\u007f]/.test(text))
    throw new TypeError('A path with a control character cannot stand in a service file.')
  return text
}

/** systemd.syntax(7): quotes and backslashes escaped, % and (in ExecStart) $ doubled. */
const systemdWord = (text: string, isCommand: boolean): string => {
  const escaped = oneLine(text).replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('%', '%%')
  return `"${isCommand ? escaped.replaceAll('$', '$$$$') : escaped}"`
}

function systemd({ homeDir, configHome, root, isDefaultRoot, node, program }: ServiceInput): Service {
  const lines = [
    '[Unit]',
    'Description=Holdpoint daemon: judges the calls of agents on this machine',
    'StartLimitIntervalSec=60',
    'StartLimitBurst=5',
    '',
    '[Service]',
    `ExecStart=${systemdWord(node, true)} ${systemdWord(program, true)} daemon`,
    ...(isDefaultRoot ? [] : [`Environment=${systemdWord(`HOLDPOINT_HOME=${root}`, false)}`]),
    'Restart=on-failure',
    'RestartSec=2',
    'UMask=0077',
    '',
    '[Install]',
    'WantedBy=default.target',
    '',
  ]
  const control = (...words: string[]) => ['systemctl', '--user', ...words]
  return {
    kind: 'systemd user unit',
    name: SYSTEMD_UNIT,
    file: posix.join(configHome || posix.join(homeDir, '.config'), 'systemd', 'user', SYSTEMD_UNIT),
    bytes: Buffer.from(lines.join('\n')),
    probe: control('show-environment'),
    enable: [control('daemon-reload'), control('enable', SYSTEMD_UNIT)],
    start: [control('start', SYSTEMD_UNIT)],
    disable: [control('disable', '--now', SYSTEMD_UNIT)],
    note: 'It runs while you are logged in; `loginctl enable-linger` lets it run without that.',
  }
}

const xml = (text: string): string =>
  oneLine(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

function launchd({ homeDir, root, isDefaultRoot, node, program, log, uid = 0 }: ServiceInput): Service {
  const file = posix.join(homeDir, 'Library', 'LaunchAgents', `${LAUNCHD_LABEL}.plist`)
  const environment = isDefaultRoot
    ? []
    : ['  <key>EnvironmentVariables</key>', `  <dict><key>HOLDPOINT_HOME</key><string>${xml(root)}</string></dict>`]
  const lines = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
    '<plist version="1.0">',
    '<dict>',
    '  <key>Label</key>',
    `  <string>${LAUNCHD_LABEL}</string>`,
    '  <key>ProgramArguments</key>',
    '  <array>',
    ...[node, program, 'daemon'].map(word => `    <string>${xml(word)}</string>`),
    '  </array>',
    ...environment,
    '  <key>RunAtLoad</key>',
    '  <true/>',
    '  <key>KeepAlive</key>',
    '  <dict><key>SuccessfulExit</key><false/></dict>',
    '  <key>ThrottleInterval</key>',
    '  <integer>10</integer>',
    '  <key>Umask</key>',
    '  <integer>63</integer>',
    '  <key>StandardErrorPath</key>',
    `  <string>${xml(log)}</string>`,
    '</dict>',
    '</plist>',
    '',
  ]
  const domain = `gui/${uid}`
  return {
    kind: 'launchd agent',
    name: LAUNCHD_LABEL,
    file,
    bytes: Buffer.from(lines.join('\n')),
    probe: ['launchctl', 'print', domain],
    // bootstrapping starts it as well: RunAtLoad
    enable: [['launchctl', 'enable', `${domain}/${LAUNCHD_LABEL}`]],
    start: [['launchctl', 'bootstrap', domain, file]],
    disable: [['launchctl', 'bootout', `${domain}/${LAUNCHD_LABEL}`]],
    note: 'It runs while you are logged in.',
  }
}

function taskScheduler({ root, isDefaultRoot, node, program, user = '' }: ServiceInput): Service {
  if (!isDefaultRoot)
    throw new TypeError(
      'A task of Windows carries no environment, so a home that HOLDPOINT_HOME names cannot be its own.',
    )
  const lines = [
    '<?xml version="1.0" encoding="UTF-16"?>',
    '<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">',
    '  <RegistrationInfo>',
    '    <Description>Holdpoint daemon: judges the calls of agents on this machine</Description>',
    '  </RegistrationInfo>',
    '  <Triggers>',
    `    <LogonTrigger><Enabled>true</Enabled><UserId>${xml(user)}</UserId></LogonTrigger>`,
    '  </Triggers>',
    '  <Principals>',
    '    <Principal id="Author">',
    `      <UserId>${xml(user)}</UserId>`,
    '      <LogonType>InteractiveToken</LogonType>',
    '      <RunLevel>LeastPrivilege</RunLevel>',
    '    </Principal>',
    '  </Principals>',
    '  <Settings>',
    '    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>',
    '    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>',
    '    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>',
    '    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>',
    '    <Hidden>true</Hidden>',
    '    <RestartOnFailure><Interval>PT1M</Interval><Count>10</Count></RestartOnFailure>',
    '  </Settings>',
    '  <Actions Context="Author">',
    '    <Exec>',
    `      <Command>${xml(node)}</Command>`,
    `      <Arguments>&quot;${xml(program)}&quot; daemon</Arguments>`,
    '    </Exec>',
    '  </Actions>',
    '</Task>',
    '',
  ]
  const file = win32.join(root, 'daemon-task.xml')
  return {
    kind: 'task of the Task Scheduler',
    name: TASK_NAME,
    file,
    // schtasks reads what it writes itself: UTF-16 with its mark
    bytes: Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(lines.join('\r\n'), 'utf16le')]),
    probe: ['schtasks', '/Query', '/FO', 'LIST'],
    enable: [['schtasks', '/Create', '/TN', TASK_NAME, '/XML', file, '/F']],
    start: [['schtasks', '/Run', '/TN', TASK_NAME]],
    disable: [
      ['schtasks', '/End', '/TN', TASK_NAME],
      ['schtasks', '/Delete', '/TN', TASK_NAME, '/F'],
    ],
    note: 'It runs while you are logged in.',
  }
}

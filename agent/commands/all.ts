import type { Command } from './command.ts'
import { daemonStart, daemonStatus, daemonStop } from './daemon.ts'
import { hooksInstall, hooksStatus, hooksUninstall } from './hooks.ts'
import { install } from './install.ts'
import { join } from './join.ts'
import { leave } from './leave.ts'
import { version } from './version.ts'

/** Every command, in the order of the help, under the heading it stands below there. */
export const COMMANDS: readonly { heading: string; commands: readonly Command[] }[] = [
  { heading: 'Setting up', commands: [install, join, leave, hooksInstall, hooksUninstall, hooksStatus] },
  { heading: 'The daemon', commands: [daemonStart, daemonStop, daemonStatus] },
  { heading: 'About', commands: [version] },
]

export const ALL: readonly Command[] = COMMANDS.flatMap(group => group.commands)

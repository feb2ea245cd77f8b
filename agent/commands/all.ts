import { adminApprove, adminDeny } from './admin-answer.ts'
import { adminBoundaries } from './admin-boundaries.ts'
import { adminLogin, adminLogout } from './admin-login.ts'
import { approve, deny } from './approve.ts'
import { boundariesStatus, demote, promote } from './boundaries.ts'
import { boundariesTest } from './boundaries-test.ts'
import { boundariesWhy } from './boundaries-why.ts'
import { budget } from './budget.ts'
import type { Command } from './command.ts'
import { daemonRun, daemonStart, daemonStatus, daemonStop } from './daemon.ts'
import { daemonInstall, daemonRestart, daemonUninstall } from './daemon-install.ts'
import { daemonLogs } from './daemon-logs.ts'
import { doctor } from './doctor.ts'
import { explain } from './explain.ts'
import { figures } from './figures.ts'
import { glance } from './glance.ts'
import { history } from './history.ts'
import { hooksInstall, hooksStatus, hooksUninstall } from './hooks.ts'
import { install } from './install.ts'
import { join } from './join.ts'
import { leave } from './leave.ts'
import { mcp } from './mcp.ts'
import { proxy, proxyStatus } from './proxy.ts'
import { statusLineInstall, statusLineStatus, statusLineUninstall } from './statusline.ts'
import { teamPreview, teamStatus, teamSync, teamWeb } from './team.ts'
import { telemetry } from './telemetry.ts'
import { version } from './version.ts'
import { waiting } from './waiting.ts'

/** Every command, in the order of the help, under the heading it stands below there. */
export const COMMANDS: readonly { heading: string; commands: readonly Command[] }[] = [
  { heading: 'Setting up', commands: [install, join, leave, hooksInstall, hooksUninstall, hooksStatus] },
  { heading: 'What is held', commands: [glance, waiting, approve, deny, explain, mcp] },
  {
    heading: 'Rules and figures',
    commands: [
      boundariesStatus,
      boundariesTest,
      boundariesWhy,
      promote,
      demote,
      figures,
      statusLineInstall,
      statusLineUninstall,
      statusLineStatus,
    ],
  },
  { heading: 'Spend', commands: [history, budget, telemetry] },
  { heading: 'The proxy', commands: [proxy, proxyStatus] },
  { heading: 'The organisation', commands: [teamStatus, teamSync, teamWeb, teamPreview] },
  { heading: 'For owners and admins', commands: [adminLogin, adminLogout, adminBoundaries, adminApprove, adminDeny] },
  {
    heading: 'The daemon',
    commands: [
      doctor,
      daemonRun,
      daemonStart,
      daemonStop,
      daemonRestart,
      daemonStatus,
      daemonLogs,
      daemonInstall,
      daemonUninstall,
    ],
  },
  { heading: 'About', commands: [version] },
]

export const ALL: readonly Command[] = COMMANDS.flatMap(group => group.commands)

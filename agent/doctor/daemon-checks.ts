/** The daemon, what reaches it, and what stands in its place. */
import { createConnection } from 'node:net'
import { alarmWords } from '#agent/commands/code-words.ts'
import { readJson } from '#agent/home.ts'
import { folderTrouble, socketPlace } from '#agent/hook/socket-place.ts'
import { PROXY_PORT, readProxy } from '#agent/proxy/place.ts'
import { localTime } from '#agent/terminal.ts'
import type { Check, Finding } from './finding.ts'

const UNJUDGED = 'While it does not run, agents’ calls run unjudged and nothing is asked, answered or reported.'

export const checkDaemon: Check = ({ status, refused, version }) => {
  if (status) {
    if (status.version === version) return []
    return [
      {
        code: 'daemon_other_version',
        severity: 'off',
        what: `The daemon that runs is version ${status.version}, this program is ${version}.`,
        why: 'It decides as it was when it was started; what is new since then does not hold yet.',
        fix: 'holdpoint daemon restart',
      },
    ]
  }
  if (refused?.code === 'daemon_impostor')
    return [
      {
        code: 'daemon_impostor',
        severity: 'off',
        what: refused.message,
        why: 'Hooks of the http form send their calls there; nothing judges them.',
        todo: 'End that program, then run `holdpoint daemon start`.',
      },
    ]
  if (refused && refused.code !== 'daemon_missing')
    return [
      {
        code: 'daemon_odd',
        severity: 'off',
        what: refused.message,
        why: UNJUDGED,
        todo: 'Look at `holdpoint daemon logs`; end what listens on the daemon’s port, then run `holdpoint daemon start`.',
      },
    ]
  return [
    {
      code: 'daemon_down',
      severity: 'off',
      what: 'The daemon is not running.',
      why: UNJUDGED,
      fix: 'holdpoint daemon start',
    },
  ]
}

/** The lock names another live process than the one that answers: two write one journal. */
export const checkSecondDaemon: Check = ({ home, status }) => {
  const holder = readJson<{ pid?: unknown }>(home.lock)?.pid
  if (!status || !Number.isInteger(holder) || holder === status.pid) return []
  try {
    process.kill(holder as number, 0)
  } catch {
    return []
  }
  return [
    {
      code: 'two_daemons',
      severity: 'off',
      what: `Process ${status.pid} answers as the daemon, and process ${holder} holds its lock.`,
      why: 'Two daemons of one home write one journal; its chain then breaks, and an answer could be used twice.',
      todo: `End process ${holder} if it is a daemon of this home, then run \`holdpoint daemon restart\`.`,
    },
  ]
}

/** The folder of the socket that command hooks come in by. */
export const checkSocket: Check = ({ home, status }) => {
  const place = status && socketPlace(home.root)
  const trouble = place ? folderTrouble(place) : undefined
  if (!place || trouble === undefined) return []
  return [
    {
      code: 'socket_folder',
      severity: 'off',
      what: `The socket for hooks cannot be used: ${trouble}.`,
      why: 'Hooks of the command form and modules come in by it; their calls run unjudged.',
      fix: 'holdpoint daemon restart',
    },
  ]
}

/** Alarms of the last hour that say something about this machine as it is now. */
const CLOCK = ['clock_off', 'clock_moved_back']
const RECENT_MS = 3600_000

export const checkClock: Check = ({ status, now }) =>
  (status?.alarms ?? [])
    .filter(({ what, at }) => CLOCK.includes(what) && Math.abs(now - Date.parse(at)) < RECENT_MS)
    .map(({ what, at }) => ({
      code: what,
      severity: 'off' as const,
      what: `${alarmWords(what)[0]!.toUpperCase()}${alarmWords(what).slice(1)} (${localTime(at)}).`,
      why: 'Answers and rules hold for a time; with a wrong clock they are refused, or are too old.',
      ...(process.platform === 'linux'
        ? { fix: 'sudo timedatectl set-ntp true' }
        : { todo: 'Let the system set its clock by the network.' }),
    }))

/** Base URLs of this environment that point at the local proxy while it does not run: at nobody, or at another program. */
export const checkProxyPort: Check = async ({ home, clientHome }): Promise<Finding[]> => {
  const pointed = BASE_URLS.flatMap(name => {
    const port = proxyPortIn(clientHome.env[name])
    return port === undefined ? [] : [{ name, port }]
  })
  const [first] = pointed
  if (!first || readProxy(home)?.port === first.port) return []
  const taken = await isTaken(first.port)
  return [
    taken
      ? {
          code: 'proxy_port_taken',
          severity: 'off',
          what: `${first.name} points at port ${first.port}, where another program listens and not the local proxy.`,
          why: 'Requests with your keys go to that program; nothing is metered, routed or stopped.',
          todo: 'End that program or take the variable away, then run `holdpoint proxy`.',
        }
      : {
          code: 'proxy_down',
          severity: 'off',
          what: `${first.name} points at the local proxy on port ${first.port}, which is not running.`,
          why: 'Programs with that address reach no model.',
          fix: 'holdpoint proxy',
        },
  ]
}

const BASE_URLS = ['ANTHROPIC_BASE_URL', 'OPENAI_BASE_URL', 'COPILOT_PROVIDER_BASE_URL']
/** The proxy's own paths, with whose the calls are before them or not. */
const PROXY_PATH = /^\/(s\/[^/]+\/)?(anthropic|openai)(\/|$)/

function proxyPortIn(value: string | undefined): number | undefined {
  if (value === undefined || !URL.canParse(value)) return undefined
  const { hostname, port, pathname } = new URL(value)
  const isHere = hostname === '127.0.0.1' || hostname === 'localhost'
  return isHere && (Number(port) === PROXY_PORT || PROXY_PATH.test(pathname)) ? Number(port) : undefined
}

const isTaken = (port: number): Promise<boolean> =>
  new Promise(resolve => {
    const socket = createConnection({ host: '127.0.0.1', port, timeout: 500 })
    const end = (taken: boolean) => {
      socket.destroy()
      resolve(taken)
    }
    socket.on('connect', () => end(true))
    socket.on('timeout', () => end(false))
    socket.on('error', () => end(false))
  })

/** Each agent program that is here: whether its hooks stand as they were installed, and come through. */
import type { ClientAdapter } from '#agent/clients/adapter.ts'
import { statusLineOf } from '#agent/clients/claude/statusline-file.ts'
import { findProgram } from '#agent/clients/found.ts'
import type { HookInspection } from '#agent/clients/hook-editor.ts'
import { ADAPTERS } from '#agent/clients/sources.ts'
import { sendCanary } from '#agent/commands/canary.ts'
import { type DaemonDoor, readHookDoor } from '#agent/daemon-client.ts'
import type { Home } from '#agent/home.ts'
import { hookInstall } from '#agent/hook-programs.ts'
import { isUnsupported } from '#core/boundary/shape.ts'
import type { Check, Examined, Finding } from './finding.ts'

export const checkHooks: Check = async examined => {
  const findings: Finding[] = []
  for (const adapter of ADAPTERS) findings.push(...(await ofClient(adapter, examined)))
  return findings
}

const UNSEEN = 'Its calls run unseen: no rule holds them.'

async function ofClient(adapter: ClientAdapter, { home, clientHome, status }: Examined): Promise<Finding[]> {
  const { client, title } = adapter
  const install = `holdpoint hooks install --client ${client}`
  const found = inspect(adapter, home, clientHome)
  if (typeof found === 'string')
    return [
      {
        code: `hooks_unreadable:${client}`,
        severity: 'off',
        what: `${title}’s settings cannot be read: ${found}.`,
        why: 'Whether its calls are held is not known, and the hooks cannot be installed.',
        todo: `Mend the file, then run \`${install}\`.`,
      },
    ]
  if (found.level === 'not-installed') {
    if (findProgram(adapter.program, clientHome) === undefined) return []
    return [
      {
        code: `hooks_missing:${client}`,
        severity: 'off',
        what: `${title} is here and has no hook.`,
        why: UNSEEN,
        fix: install,
      },
    ]
  }
  if (found.outdated)
    return [
      {
        code: `hooks_edited:${client}`,
        severity: 'off',
        what: `${title}’s hook is not as it would be installed now: it was edited, or the daemon’s address, token or program has changed.`,
        why: 'Its calls may go elsewhere, or be refused by the daemon and run.',
        fix: install,
      },
    ]
  const off = found.findings.filter(({ severity }) => severity === 'off')
  if (off.length > 0) return off.map(one => offFinding(one, adapter, install))
  if (!status) return []
  const heard = await sendCanary(adapter.hooks.probe(clientHome), clientHome.env, home.root)
  if (heard.ok) return []
  const isDiverted = heard.code === 'proxy_diverts_hook'
  return [
    {
      code: `${isDiverted ? 'hooks_diverted' : 'hooks_unheard'}:${client}`,
      severity: 'off',
      what: `A test event through ${title}’s hook did not reach the daemon: ${heard.why}.`,
      why: UNSEEN,
      ...(isDiverted
        ? { todo: 'Let NO_PROXY and no_proxy name 127.0.0.1 and localhost in the shell that starts it.' }
        : { fix: install }),
    },
  ]
}

function offFinding(
  { code, text, file }: HookInspection['findings'][number],
  { client, title, hooks }: ClientAdapter,
  install: string,
): Finding {
  const untrusted = code === 'hook_not_trusted'
  return {
    code: `${untrusted ? 'hooks_untrusted' : code}:${client}`,
    severity: 'off',
    what: `${title}: ${text}${file ? ` (${file})` : ''}`,
    why: UNSEEN,
    ...(untrusted && hooks.trust ? { fix: `${install} --trust`, todo: hooks.trust.byHand } : { todo: text }),
  }
}

/** As the daemon looks at it; a text: why it cannot be looked at. */
function inspect(adapter: ClientAdapter, home: Home, place: Examined['clientHome']): HookInspection | string {
  try {
    const bare = adapter.hooks.inspect(place, { projectDirs: [] })
    const door = readHookDoor(home) as DaemonDoor | undefined
    if (!door || bare.level === 'not-installed') return bare
    const form = bare.form ?? adapter.forms[0]!
    const expected = hookInstall(home, adapter, door, { whenBroken: bare.whenBroken ?? 'pass', form })
    return adapter.hooks.inspect(place, { projectDirs: [process.cwd()], expected })
  } catch (error) {
    return (error as Error).message
  }
}

/** A rule on a plan that nothing tells about in Claude Code. */
export const checkStatusLine: Check = ({ rules, clientHome }) => {
  const claude = ADAPTERS.find(({ client }) => client === 'claude-code')
  if (!claude || findProgram(claude.program, clientHome) === undefined) return []
  const onPlan = rules.filter(
    ({ rule }) => !isUnsupported(rule) && rule.when.some(({ figure }) => figure === 'plan_left_pct'),
  )
  if (onPlan.length === 0 || isStatusLineOurs(clientHome)) return []
  const names = onPlan.map(({ key }) => key).join(', ')
  return [
    {
      code: 'statusline_missing',
      severity: 'off',
      what: `Claude Code’s status line is not ours, and ${names} ${onPlan.length === 1 ? 'compares' : 'compare'} what is left of a plan.`,
      why: 'Only its status line is told how much of its plan is left; without it the figure is unread there, and the rule lets calls through unless it says on_unknown: hold.',
      fix: 'holdpoint statusline install',
    },
  ]
}

/** Settings that cannot be read are told of with the hooks. */
function isStatusLineOurs(place: Examined['clientHome']): boolean {
  try {
    return statusLineOf(place).isOurs
  } catch {
    return true
  }
}

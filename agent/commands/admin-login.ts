import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { localTime, plain } from '#agent/terminal.ts'
import {
  type AdminSession,
  AT,
  forgetSession,
  keepSession,
  planeOf,
  readSession,
  refuseAgents,
  TOKEN_VARIABLE,
} from './admin-session.ts'
import type { Command } from './command.ts'
import { askPlane, askPlaneJson, PlaneRefusal } from './control-plane.ts'
import { CommandFailure, EXIT } from './exit.ts'

export const adminLogin: Command = {
  name: 'team admin login',
  summary: 'sign in as an owner or admin for twelve hours, confirmed in the browser',
  options: AT,
  about:
    'Prints an address and a short code. Open the address in a browser where you are signed in with your own account, compare the code, and allow it there. The credential may publish boundaries and answer other people’s requests, never your own, and nothing else.',
  examples: [
    ['holdpoint team admin login', 'at the organisation of this machine'],
    ['holdpoint team admin login --at https://holdpoint.example.com --org acme', 'anywhere'],
  ],
  async run({ flags, home, json, terminal }) {
    refuseAgents(home)
    const { origin, slug } = planeOf(home, flags)
    const label =
      hostname()
        .replace(/[^A-Za-z0-9._-]+/g, '-')
        .slice(0, 63) || 'machine'
    const started = await askPlaneJson<{
      deviceCode: string
      userCode: string
      url: string
      interval: number
      expiresAt: string
    }>(origin, { method: 'POST', path: 'admin/login', body: { label, org: slug } })
    terminal.note(`Open ${plain(started.url)}`)
    terminal.note(
      `and allow the code ${plain(started.userCode)} there, before ${localTime(started.expiresAt)}. Waiting…`,
    )
    const session = await waitForToken(origin, slug, started)
    keepSession(home, session)
    if (json) terminal.json({ org: session.org, member: session.member, expiresAt: session.expiresAt })
    else
      terminal.line(`Signed in as ${plain(session.member?.name ?? 'an admin')} until ${localTime(session.expiresAt)}.`)
    return EXIT.ok
  },
}

type TokenAnswer = {
  pending?: true
  token?: string
  expiresAt?: string
  member?: { id: string; name: string }
  org?: { slug: string; name: string }
}

async function waitForToken(
  origin: string,
  slug: string,
  { deviceCode, interval, expiresAt }: { deviceCode: string; interval: number; expiresAt: string },
): Promise<AdminSession> {
  const pauseMs = Math.min(30, Math.max(0.2, Number(interval) || 5)) * 1000
  for (const until = Date.parse(expiresAt); Date.now() < until; ) {
    await sleep(pauseMs)
    let answer: TokenAnswer
    try {
      answer = await askPlaneJson<TokenAnswer>(origin, { method: 'POST', path: 'admin/token', body: { deviceCode } })
    } catch (error) {
      if (error instanceof PlaneRefusal && error.status === 428) continue
      throw error
    }
    if (answer.pending) continue
    if (!answer.token) throw new CommandFailure('failed', 'odd_answer', 'The control plane gave no credential.')
    return {
      origin,
      org: answer.org ?? { slug },
      token: answer.token,
      ...(answer.member ? { member: answer.member } : {}),
      ...(answer.expiresAt ? { expiresAt: answer.expiresAt } : {}),
    }
  }
  throw new CommandFailure(
    'failed',
    'login_expired',
    'Nobody allowed the sign-in in time.',
    'Run `holdpoint team admin login` again.',
  )
}

export const adminLogout: Command = {
  name: 'team admin logout',
  summary: 'end the admin sign-in on this machine',
  about: 'Withdraws the credential at the control plane and deletes it here.',
  examples: [['holdpoint team admin logout', 'when done']],
  async run({ flags, home, json, terminal }) {
    const session = readSession(home, flags)
    let told = true
    await askPlane(session.origin, { method: 'DELETE', path: 'admin/token', token: session.token }).catch(() => {
      told = false
    })
    const here = forgetSession(home)
    if (json) terminal.json({ signedOut: here, told })
    else
      terminal.line(
        told
          ? 'Signed out.'
          : 'Deleted here; the control plane could not be told. The credential ends by itself within twelve hours; Settings can end it at once.',
      )
    if (process.env[TOKEN_VARIABLE] && !json) terminal.line(`${TOKEN_VARIABLE} is still set in this shell.`)
    return EXIT.ok
  },
}

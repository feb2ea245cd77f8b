import type { Browser, BrowserContext, Page } from '@playwright/test'
import { PATH, REPOSITORY, runProcess } from '../../test/clients/bench.ts'
import { change } from './api.ts'
import { arrived } from './arrival.ts'
import { acceptInvitation } from './people.ts'

export type Person = { name: string; email: string }
export type Colleague = Person & { role: 'admin' | 'lead' | 'member' | 'auditor' }
/** What a signed-in browser holds; `newContext({ storageState })` is that person again. */
export type SignedIn = Awaited<ReturnType<BrowserContext['storageState']>>

export type Organisation = {
  slug: string
  /** Signed-in browsers by e-mail address, the owner's first. */
  people: Record<string, SignedIn>
}

/**
 * One more organisation beside the demo's, made as an operator makes it: with the command, next to the running server.
 * A file that has its own disturbs no other. Resolves with its owner's one-time address.
 */
export async function makeOrganisation(slug: string, name: string, owner: Person): Promise<string> {
  const given = ['PORT', 'DATABASE_URL'].map(key => [key, process.env[`E2E_${key}`] ?? ''])
  const env = {
    PATH: `${process.execPath.replace(/\/node$/, '')}:${PATH}`,
    HOME: process.env.HOME ?? '/',
    ...Object.fromEntries(given.filter(([, value]) => value !== '')),
    HOLDPOINT_DATA: process.env.E2E_DATA!,
    HOLDPOINT_PUBLIC_URL: `http://localhost:${process.env.E2E_PORT}`,
  }
  const args = ['server/boot/organisation.mjs', slug, owner.email, name, owner.name]
  const made = await runProcess(process.execPath, args, { env, cwd: REPOSITORY, timeoutMs: 180_000 })
  const address = /signs in, once .*: (\S+)/.exec(made.stdout)?.[1]
  if (!address) throw new Error(`no organisation was made: ${made.stdout}${made.stderr}`)
  return address
}

export async function signInOnce(page: Page, address: string): Promise<void> {
  await page.goto(address)
  await arrived(page)
  await page.getByRole('button', { name: 'Sign in once' }).click()
  await page.waitForURL(url => !url.pathname.startsWith('/link'))
  await arrived(page)
}

/** Makes an organisation, invites its people and signs each in with the mail that they get. */
export async function foundOrganisation(
  browser: Browser,
  { slug, name, owner, colleagues }: { slug: string; name: string; owner: Person; colleagues: readonly Colleague[] },
): Promise<Organisation> {
  const address = await makeOrganisation(slug, name, owner)
  const people: Record<string, SignedIn> = {}
  const first = await browser.newContext()
  await signInOnce(await first.newPage(), address)
  people[owner.email] = await first.storageState()
  for (const colleague of colleagues) {
    await change(first, 'member.invite', { org: slug, ...colleague })
    const context = await browser.newContext()
    await acceptInvitation(await context.newPage(), colleague.email)
    people[colleague.email] = await context.storageState()
    await context.close()
  }
  await first.close()
  return { slug, people }
}

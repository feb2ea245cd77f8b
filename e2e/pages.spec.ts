import type { BrowserContext, Page } from '@playwright/test'
import { startProvider } from '../test/support/provider.ts'
import { agentSession } from './support/agent-session.ts'
import { change, publishRules, query } from './support/api.ts'
import { expect, test } from './support/console.ts'
import {
  faultsFor,
  jumped,
  reachByKeyboard,
  spills,
  sticksOut,
  stretchNames,
  WIDTHS,
  type Width,
  watchShifts,
} from './support/looks.ts'
import { emptyMachine, type Machine } from './support/machine.ts'
import {
  foundOrganisation,
  makeOrganisation,
  type Organisation,
  type SignedIn,
  signInOnce,
} from './support/organisation.ts'
import { askForCode, newestMail } from './support/people.ts'

/** Every page, empty and full, on a phone and at a desk, dark and light, with names of any length. Pictures go to test-results/pages. */
type Visit = {
  name: string
  path: string /** A control that Tab must come to. */
  reach?: string
  before?: (page: Page) => Promise<unknown>
}

/** A worker that begins anew after a failure makes organisations of its own. */
const N = process.env.TEST_WORKER_INDEX ?? '0'
const UPLAND = `upland-${N}`
const BARREN = `barren-${N}`

const OWNER = { name: 'Wanda Hill', email: `wanda@${UPLAND}.example` }
const ADMIN = { name: 'Xaver Glen', email: `xaver@${UPLAND}.example`, role: 'admin' as const }
const DEV = { name: 'Yara Moss', email: `yara@${UPLAND}.example`, role: 'member' as const }
const people = [OWNER, ADMIN, DEV]
const FULL_NAME = 'Upland Research Institute'
const LONG_RULE = 'a-rule-with-quite-a-long-name'

const rule = (name: string, over: number, require: string, stage: string) => `  - name: ${name}
    action: continue
    when: { session_cost_usd: ">= ${over}" }
    require: ${require}
    stage: ${stage}
    note: A long session gets a second pair of eyes before it goes on.
`
const cases = (
  name: string,
  over: number,
) => `  - { rule: ${name}, action: continue, figures: { session_cost_usd: ${over} }, expect: "approver:lead" }
  - { rule: ${name}, action: continue, figures: { session_cost_usd: ${over - 1} }, expect: pass }
`
const FIRST = `# Limits of Upland.\nboundaries:\n${rule('session-spend', 20, 'approver:lead', 'shadow')}`
const SECOND = `# Limits of Upland.\nboundaries:\n${rule('session-spend', 20, 'approver:lead', 'enforce')}${rule(LONG_RULE, 500, 'deny', 'shadow')}tests:\n${cases('session-spend', 20)}`

let full: Organisation
let emptyOwner: SignedIn
let machine: Machine
let machineId: string
let machineLabel: string
let waiting: string
let settled: string

test.beforeAll(async ({ browser }) => {
  test.setTimeout(600_000)
  const bare = await browser.newContext()
  await signInOnce(
    await bare.newPage(),
    await makeOrganisation(BARREN, 'Barren', { name: 'Zed Bare', email: `zed@${BARREN}.example` }),
  )
  emptyOwner = await bare.storageState()
  await bare.close()

  full = await foundOrganisation(browser, {
    slug: UPLAND,
    name: FULL_NAME,
    owner: OWNER,
    colleagues: [ADMIN, DEV],
  })
  const owner = await browser.newContext({ storageState: full.people[OWNER.email]! })
  const admin = await browser.newContext({ storageState: full.people[ADMIN.email]! })
  const dev = await browser.newContext({ storageState: full.people[DEV.email]! })
  await publishRules(admin, UPLAND, FIRST, 'Watch long sessions for a week')
  await publishRules(
    admin,
    UPLAND,
    SECOND,
    'Two people watched it for a week; now it binds, and a hard stop is watched',
  )
  await change(owner, 'member.invite', {
    org: UPLAND,
    name: 'Vito Vale',
    email: `vito@${UPLAND}.example`,
    role: 'auditor',
  })
  const provider = await startProvider()
  const { issuer, clientId, clientSecret } = provider
  await change(owner, 'settings.addConnection', {
    org: UPLAND,
    name: 'Upland login',
    issuer,
    clientId,
    clientSecret,
    domains: [`${UPLAND}.example`],
  })
  await provider.close()
  machine = await emptyMachine()
  await machine.join(dev, UPLAND)
  await expect(async () => {
    expect((await machine.holdpoint('team', 'status')).stdout).toContain('version 2')
  }).toPass({ timeout: 60_000 })
  settled = await hold(admin, 1)
  await change(admin, 'approval.answer', {
    org: UPLAND,
    handle: settled,
    decision: 'approve',
    scope: 'session',
    until: [{ figure: 'session_cost_usd', op: '<', value: '40' }],
    reason: 'The migration is nearly through, and it is worth finishing.',
  })
  waiting = await hold(admin, 2)
  await machine.holdpoint('team', 'sync')
  const [joined] = await query<{ id: string; label: string }[]>(admin, 'machine.list', { org: UPLAND })
  machineId = joined!.id
  machineLabel = joined!.label
  await Promise.all([owner, admin, dev].map(context => context.close()))
})
test.afterAll(() => machine?.stop())

async function hold(admin: BrowserContext, n: number): Promise<string> {
  const session = agentSession(machine, `00000000-0000-4000-8000-00000000000${n}`, 'billing-service')
  session.spend(21 + n)
  const { handle } = await session.call()
  await expect(async () => {
    const { items } = await query<{ items: { handle: string }[] }>(admin, 'approval.list', { org: UPLAND })
    expect(items.map(item => item.handle)).toContain(handle)
  }).toPass({ timeout: 60_000 })
  return handle!
}

const showText = (page: Page) => page.getByRole('radio', { name: 'YAML', exact: true }).check()
const press = (name: string) => async (page: Page) => {
  await page.getByRole('button', { name }).first().click()
  await expect(page.getByRole('dialog')).toBeVisible()
}

const console_ = (org: string): Visit[] => [
  { name: 'overview', path: `/${org}` },
  { name: 'boundaries', path: `/${org}/boundaries`, reach: org === UPLAND ? 'session-spend' : 'History' },
  { name: 'boundaries-yaml', path: `/${org}/boundaries`, before: showText },
  { name: 'history', path: `/${org}/boundaries/history` },
  { name: 'approvals', path: `/${org}/approvals`, reach: 'Settled' },
  { name: 'approvals-settled', path: `/${org}/approvals?show=settled` },
  { name: 'spend', path: `/${org}/spend`, reach: 'Budgets' },
  { name: 'budgets', path: `/${org}/spend/budgets`, reach: 'New budget' },
  { name: 'budget-new', path: `/${org}/spend/edit-budget`, reach: 'Review and publish' },
  { name: 'machines', path: `/${org}/machines`, reach: 'Add a machine' },
  { name: 'members', path: `/${org}/members`, reach: 'Invite' },
  { name: 'audit', path: `/${org}/audit` },
  { name: 'settings', path: `/${org}/settings`, reach: 'Connect a provider' },
  { name: 'not-found', path: `/${org}/no-such-page`, reach: 'Boundaries' },
]

const onlyFull = (): Visit[] => [
  { name: 'version', path: `/${UPLAND}/boundaries/history/2` },
  {
    name: 'version-roll-back',
    path: `/${UPLAND}/boundaries/history/1`,
    reach: 'Roll back to this',
    before: press('Roll back to this'),
  },
  { name: 'approval-waiting', path: `/${UPLAND}/approvals/${waiting}`, reach: 'Let this step through' },
  { name: 'approval-settled', path: `/${UPLAND}/approvals/${settled}`, reach: 'End the grant' },
  { name: 'machine', path: `/${UPLAND}/machines/${machineId}` },
  { name: 'members-invite', path: `/${UPLAND}/members`, before: press('Invite') },
  {
    name: 'machines-add',
    path: `/${UPLAND}/machines`,
    before: async page => {
      await press('Add a machine')(page)
      await press('Make the line')(page)
      await page.getByText('Paste this into a terminal').waitFor()
    },
  },
]

/** Light at a desk and dark on a phone are pictured always; the other two with `PICTURES=all`. */
const SCHEMES = { desk: ['light', 'dark'], phone: ['dark', 'light'] } as const
const PICTURES = process.env.PICTURES === 'all' ? 2 : 1

/**
 * One page at both widths, each in a tab of its own: loaded there, so that what moves while loading is seen. Axe looks once
 * at each width and once at each theme. `names` are then made long, and must go on fitting.
 */
async function look(
  page: Page,
  width: Width,
  visit: Visit,
  label: string,
  names: readonly string[],
): Promise<string[]> {
  const [scheme, ...others] = SCHEMES[width].slice(0, PICTURES)
  const picture = (shown: string) =>
    page.screenshot({
      path: `test-results/pages/${label}-${width}-${shown}.png`,
      fullPage: !visit.before,
      animations: 'disabled',
    })
  await page.emulateMedia({ colorScheme: scheme!, reducedMotion: 'reduce' })
  await page.goto(visit.path)
  await page.evaluate(() => document.fonts.ready)
  await expect(page.locator('h1')).toHaveCount(1)
  const found = await jumped(page)
  if (width === 'desk' && visit.reach) await reachByKeyboard(page, visit.reach)
  await visit.before?.(page)
  found.push(...(await sticksOut(page)), ...(await spills(page)), ...(await faultsFor(page)))
  await picture(scheme!)
  for (const other of others) {
    await page.emulateMedia({ colorScheme: other })
    await picture(other)
  }
  if (names.length > 0) {
    await stretchNames(page, names)
    const long = [...(await sticksOut(page)), ...(await spills(page))]
    if (long.length > 0) await picture('long-names')
    found.push(...long.map(fault => `with long names ${fault}`))
  }
  return found.map(fault => `${label} ${width}: ${fault}`)
}

async function lookAtAll(
  pages: Record<Width, Page>,
  visits: readonly Visit[],
  set: string,
  names: readonly string[] = [],
): Promise<void> {
  const widths = Object.keys(WIDTHS) as Width[]
  for (const width of widths) {
    await watchShifts(pages[width])
    await pages[width].setViewportSize(WIDTHS[width])
  }
  const faults: string[] = []
  for (const visit of visits)
    await test.step(visit.name, async () => {
      const found = await Promise.all(
        widths.map(width => look(pages[width], width, visit, `${set}-${visit.name}`, names)),
      )
      faults.push(...found.flat())
    })
  expect(faults).toEqual([])
}

async function twoTabs(context: BrowserContext): Promise<Record<Width, Page>> {
  return { desk: await context.newPage(), phone: await context.newPage() }
}

test('the console of an organisation that has nothing yet', async ({ newContext, allowed }) => {
  test.setTimeout(600_000)
  allowed.push(/status of 404/)
  await lookAtAll(await twoTabs(await newContext({ storageState: emptyOwner })), console_(BARREN), 'empty')
})

test('the console of an organisation at work', async ({ newContext, allowed }) => {
  test.setTimeout(600_000)
  allowed.push(/status of 404/)
  const tabs = await twoTabs(await newContext({ storageState: full.people[OWNER.email]! }))
  const names = [...people.map(({ name }) => name), FULL_NAME, LONG_RULE, machineLabel]
  await lookAtAll(tabs, [...console_(UPLAND), ...onlyFull()], 'full', names)
})

test('the pages for everybody', async ({ page, context, allowed }) => {
  test.setTimeout(600_000)
  allowed.push(/status of 404/)
  await newestMail(page, `vito@${UPLAND}.example`, /invites you/)
  const mail = new URL(page.url()).pathname
  const invitation = (await page.getByRole('link', { name: /\/invitation/ }).getAttribute('href'))!
  await askForCode(page, `vito@${UPLAND}.example`)
  const code = new URL(page.url())
  await lookAtAll(
    await twoTabs(context),
    [
      { name: 'sign-in', path: '/sign-in', reach: 'Send me a code' },
      { name: 'sign-in-provider', path: `/sign-in?org=${UPLAND}`, reach: 'Go on with Upland login' },
      { name: 'code', path: code.pathname + code.search, reach: 'Sign in' },
      { name: 'code-wrong', path: `${code.pathname}${code.search}&error=code` },
      { name: 'code-over', path: '/sign-in/code?error=dead' },
      { name: 'link', path: '/link?a=abc', reach: 'Sign in' },
      { name: 'link-incomplete', path: '/link' },
      { name: 'invitation', path: invitation, reach: 'Accept' },
      { name: 'invitation-gone', path: '/invitation?t=gone' },
      { name: 'mailbox', path: '/mailbox' },
      { name: 'mail', path: mail },
      { name: 'join-line', path: `/o/${UPLAND}` },
      { name: 'not-found', path: '/no/such/page' },
    ],
    'public',
    [...people.map(({ name }) => name), FULL_NAME],
  )
})

test('the pages between sign-in and console', async ({ newContext }) => {
  test.setTimeout(600_000)
  await lookAtAll(
    await twoTabs(await newContext({ storageState: full.people[ADMIN.email]! })),
    [
      { name: 'device', path: '/device', reach: 'Code from the terminal' },
      { name: 'organisation', path: '/sign-in/organisation' },
    ],
    'signed-in',
    [...people.map(({ name }) => name), FULL_NAME],
  )
})

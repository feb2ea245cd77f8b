import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from './support/console.ts'
import { emptyMachine, type Machine } from './support/machine.ts'
import { foundOrganisation, type Organisation } from './support/organisation.ts'
import { newestMail, nextMail } from './support/people.ts'

/** Somebody switches hooks off on a machine: its owner knows within a minute, on the pages and by mail, and knows when they are back. */
const SLUG = `drift-${process.env.TEST_WORKER_INDEX ?? '0'}`
const OWNER = { name: 'Ines Falk', email: `ines@${SLUG}.example` }
const WITHIN_MS = 60_000

let org: Organisation
let machine: Machine
test.beforeAll(async ({ browser }) => {
  org = await foundOrganisation(browser, { slug: SLUG, name: 'Drift', owner: OWNER, colleagues: [] })
  machine = await emptyMachine()
})
test.afterAll(() => machine?.stop())

test('hooks that are switched off are told to the owner within a minute, and once more when they are back', async ({
  newContext,
}) => {
  const context = await newContext({ storageState: org.people[OWNER.email]! })
  const page = await context.newPage()
  await machine.join(context, SLUG)
  for (const client of ['gemini', 'copilot'])
    expect((await machine.holdpoint('hooks', 'install', '--client', client)).exit).toBe(0)
  const settings = path.join(machine.home, '.claude/settings.json')
  const installed = readFileSync(settings, 'utf8')
  const agents = page.getByRole('main')

  await test.step('while they hold, the page says how far, what undoes them and what they do not hold', async () => {
    await expect(async () => {
      await page.goto(`/${SLUG}/machines`)
      await page.getByRole('table', { name: 'Joined machines' }).getByRole('link').first().click({ timeout: 2000 })
      await page.waitForURL(/\/machines\/mac_/, { timeout: 5000 })
      await expect(agents.getByRole('listitem').filter({ hasText: 'Copilot CLI' })).toContainText('user hook', {
        timeout: 2000,
      })
    }).toPass({ timeout: WITHIN_MS })
    const claude = agents.getByRole('listitem').filter({ hasText: 'Claude Code' }).first()
    await expect(claude).toContainText('user hook')
    await claude.getByText('What cannot be held there').click()
    await expect(claude).toContainText('only the model of a subagent')
  })

  writeFileSync(settings, JSON.stringify({ ...JSON.parse(installed), disableAllHooks: true }))
  await test.step('switched off, it stands on its page, in the list and on the overview', async () => {
    await expect(agents).toContainText('the user’s settings switch hooks off', { timeout: WITHIN_MS })
    await expect(agents).toContainText('It was held better before')
    await page.goto(`/${SLUG}/machines`)
    await expect(agents).toContainText('Claude Code: held less than before')
    await page.goto(`/${SLUG}`)
    await expect(agents).toContainText('1 with a hook gone or broken')
  })
  const mailbox = await context.newPage()
  await test.step('the owner has a mail that says which and why', async () => {
    const text = await nextMail(mailbox, OWNER.email, /^Claude Code on .*: your rules hold less than before/)
    expect(text).toContain('the user’s settings switch hooks off')
  })

  writeFileSync(settings, installed)
  await test.step('switched on again, that is told as well, and nothing twice', async () => {
    await newestMail(mailbox, OWNER.email, /^Claude Code on .*: your rules hold again/)
    await page.goto(`/${SLUG}`)
    await expect(agents).not.toContainText('with a hook gone or broken')
    await mailbox.goto(`/mailbox?to=${encodeURIComponent(OWNER.email)}`)
    await expect(mailbox.getByRole('link', { name: /your rules hold again/ })).toHaveCount(1)
    await expect(mailbox.getByRole('link', { name: /your rules hold less/ })).toHaveCount(1)
  })
})

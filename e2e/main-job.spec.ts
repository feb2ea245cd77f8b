import { existsSync } from 'node:fs'
import type { Page } from '@playwright/test'
import { CLAUDE_BINARY, runClaudeOn, usageCosting } from '../test/clients/claude.ts'
import { expect, test } from './support/console.ts'
import { emptyMachine, type Machine } from './support/machine.ts'
import { newestMail, signIn } from './support/people.ts'

/** The story the product is for: a signed boundary stops a real agent, and the right person lets it go on. */
const RULES = (stage: 'shadow' | 'enforce') => `boundaries:
  - name: session-spend
    action: continue
    when: { session_cost_usd: ">= 20" }
    require: approver:lead
    stage: ${stage}
    note: Long sessions get a second pair of eyes.
`
const bash = (file: string) => [
  { name: 'Bash', input: { command: `echo ran >> $CWD/${file}`, description: 'Leave a line' } },
]

let machine: Machine
test.beforeAll(async () => {
  machine = await emptyMachine()
})
test.afterAll(() => machine?.stop())

test('a signed boundary stops a real agent, and the right person lets it go on', async ({ page, newContext }) => {
  test.setTimeout(600_000)
  expect(existsSync(CLAUDE_BINARY), 'the real Claude Code; npm test installs it').toBe(true)
  const { bench } = machine

  await test.step('the owner signs in once with the address that the start printed', async () => {
    await page.goto(process.env.E2E_SIGN_IN!)
    await page.getByRole('button', { name: 'Sign in once' }).click()
    await expect(page).toHaveURL('/acme')
  })

  const admin = await (await newContext()).newPage()
  await test.step('an admin writes a rule, sees a mistake at its line, and publishes it in shadow', async () => {
    await signIn(admin, 'ben@acme.example', '/acme/boundaries')
    await admin.getByRole('radio', { name: 'YAML' }).check()
    const text = admin.getByLabel('Rule set, YAML')
    await text.fill(RULES('shadow').replace('session_cost_usd', 'session_cost'))
    await expect(admin.getByText('session_cost is not a condition')).toBeVisible()
    await expect(admin.getByText('Line 4', { exact: true })).toBeVisible()
    await text.fill(RULES('shadow'))
    await publish(admin, 'Watch long sessions', 1)
  })

  await test.step('a machine with an empty home installs the connector by one line and pins the root', async () => {
    await page.goto('/acme/machines')
    await page.getByRole('button', { name: 'Add a machine' }).first().click()
    await page.getByLabel('Whose machine is it?').selectOption({ label: 'Dana Reyes' })
    await page.getByRole('button', { name: 'Make the line' }).click()
    const line = await page.getByRole('dialog').locator('code').filter({ hasText: 'sha256sum' }).textContent()
    const joined = await machine.shell(line!)
    expect(joined.stderr + joined.stdout).toContain('Joined Acme')
    expect(joined.stdout).toContain('checked against the digest in the join line')
    expect(await machine.shell(line!), 'the line works once').toMatchObject({ exit: 1 })
    const hooks = await machine.holdpoint('hooks', 'install')
    expect(hooks.stdout).toContain('Proved')
    await expect.poll(async () => (await machine.holdpoint('team', 'status')).stdout).toContain('version 1')
    await expect(
      page
        .getByRole('dialog')
        .getByText(/joined/i)
        .first(),
    ).toBeVisible()
  })

  let session = ''
  await test.step('in shadow the agent goes on, and what it crossed is recorded', async () => {
    const run = await runClaudeOn(bench, {
      scenario: [
        { text: 'one', tools: bash('ran.txt'), usage: usageCosting(21) },
        { text: 'two', tools: bash('ran.txt') },
        { text: 'final' },
      ],
    })
    session = run.result!.session_id
    expect(run.toolCallsRan).toHaveLength(2)
    const status = async () => (await machine.holdpoint('boundaries', 'status')).stdout
    await expect.poll(status).toMatch(/org:session-spend .*\[shadow\]/)
    await expect.poll(status).toMatch(/would have fired [12] times? in 1 session/)
  })

  await test.step('the admin accepts the proposed cases and lets it bind; the machine has it within seconds', async () => {
    await admin.getByLabel('Rule set, YAML').fill(RULES('enforce'))
    await admin.getByRole('button', { name: 'Review and publish' }).click()
    await admin.getByRole('button', { name: 'Accept the proposed cases' }).click()
    await finishPublishing(admin, 'Two people watched it for a week', 2)
    await expect(async () => {
      expect((await machine.holdpoint('team', 'status')).stdout).toContain('version 2')
    }).toPass({ timeout: 60_000 })
  })

  const again = (answers: number) =>
    runClaudeOn(bench, {
      args: ['--resume', session],
      scenario: [
        ...Array.from({ length: answers }, (_, i) => ({ text: `try ${i}`, tools: bash('more.txt') })),
        { text: 'final' },
      ],
    })
  let handle = ''
  await test.step('enforced, the agent is refused with what was crossed, and a request is filed', async () => {
    const run = await again(2)
    const refusals = run.toolResults.filter(r => r.isError).map(r => r.text)
    expect(refusals).toHaveLength(2)
    expect(refusals[0]).toContain('Stopped by the boundary org:session-spend')
    expect(refusals[0]).toContain('Do not retry')
    handle = /bnd-[0-9a-f]{12}/.exec(refusals[0]!)![0]
    expect(refusals[1], 'a retry meets the same request').toContain(handle)
    expect((await machine.holdpoint('approve', handle)).exit, 'the machine approves nothing').not.toBe(0)
  })

  await test.step("the developer sees it and cannot answer, neither signed in nor through a machine's link", async () => {
    const dana = await (await newContext()).newPage()
    await signIn(dana, 'dana@acme.example', `/acme/approvals/${handle}`)
    await expect(dana.getByText('This takes the role lead or above; yours is member.')).toBeVisible()
    await expect(dana.getByRole('button', { name: 'Let this step through' })).toHaveCount(0)
    const link = await machine.holdpoint('team', 'web', '--json')
    const look = await (await newContext()).newPage()
    await look.goto((JSON.parse(link.stdout) as { url: string }).url)
    await look.getByRole('button', { name: 'Look on' }).click()
    await look.goto(`/acme/approvals/${handle}`)
    await expect(look.getByText(/A session that began with a machine's link cannot do this/)).toBeVisible()
  })

  const lead = await (await newContext()).newPage()
  await test.step('the lead gets a mail, whose link only opens the request, and lets one step through', async () => {
    const mail = await newestMail(lead, 'chris@acme.example', /waits/i)
    expect(mail).toContain(handle)
    await lead.getByRole('link', { name: new RegExp(`/acme/approvals/${handle}`) }).click()
    await expect(lead, 'the link has no power').toHaveURL(/\/sign-in/)
    await signIn(lead, 'chris@acme.example', `/acme/approvals/${handle}`)
    await expect(lead.getByRole('heading', { level: 1 })).toContainText(
      'A Claude Code session of Dana Reyes has cost $21',
    )
    await lead.getByLabel(/Reason/).fill('The migration is nearly through.')
    await lead.getByRole('button', { name: 'Let this step through' }).click()
    await expect(lead.getByText('Approved by')).toBeVisible()
  })

  await test.step('soon the machine knows, and exactly one call goes through', async () => {
    await expect(async () => {
      expect((await machine.holdpoint('explain', handle)).stdout).toContain('Chris Lind (lead')
    }).toPass({ timeout: 60_000 })
    const run = await again(2)
    const mine = run.toolResults.slice(-2)
    expect(mine.map(r => r.isError)).toEqual([false, true])
    handle = /bnd-[0-9a-f]{12}/.exec(mine[1]!.text)![0]
  })

  await test.step('the rest of the session up to a ceiling: it goes on below it and asks again at it', async () => {
    await openRequest(lead, handle)
    await lead.getByLabel(/Ceiling for the session/).fill('30')
    await lead.getByRole('button', { name: 'Let the session go on up to $30.00' }).click()
    await expect(lead.getByText('the rest of this session')).toBeVisible()
    await expect(async () => {
      expect((await machine.holdpoint('explain', handle)).stdout).toContain('$30')
    }).toPass({ timeout: 60_000 })
    const run = await runClaudeOn(bench, {
      args: ['--resume', session],
      scenario: [
        { text: 'below', tools: bash('more.txt') },
        { text: 'jump', tools: bash('more.txt'), usage: usageCosting(12) },
        { text: 'above', tools: bash('more.txt') },
        { text: 'final' },
      ],
    })
    const last = run.toolResults.slice(-3).map(r => r.isError)
    expect(last[0]).toBe(false)
    expect(last[2]).toBe(true)
    handle = /bnd-[0-9a-f]{12}/.exec(run.toolResults.at(-1)!.text)![0]
  })

  await test.step('denied with a reason: the agent is told no, and retries file nothing', async () => {
    await openRequest(lead, handle)
    await lead.getByLabel(/Reason/).fill('Enough for today.')
    await lead.getByRole('button', { name: 'Deny' }).click()
    await lead.getByRole('button', { name: 'Deny for a day' }).click()
    await expect(lead.getByText('Denied by')).toBeVisible()
    await expect(async () => {
      expect((await machine.holdpoint('explain', handle)).stdout).toContain('Chris Lind')
    }).toPass({ timeout: 60_000 })
    const run = await again(1)
    expect(run.toolResults.at(-1)!.text).toMatch(/denied/i)
    expect(run.toolResults.at(-1)!.text, 'the reason is for people').not.toContain('Enough for today')
    await lead.goto('/acme/approvals')
    await expect(lead.getByText('Nothing waits')).toBeVisible()
  })

  await test.step('the record tells who let it go on, how, when, under which rule and up to what figure', async () => {
    await lead.goto('/acme/approvals?show=settled')
    await lead
      .getByRole('link', { name: /has cost/ })
      .nth(1)
      .click()
    await expect(lead.getByText('How it ended')).toBeVisible()
    await expect(lead.getByText(/signed in with an e-mail code/)).toBeVisible()
    await expect(lead.getByText(/org:session-spend/).first()).toBeVisible()
    await page.goto('/acme/audit')
    await expect(page.getByText(/approval/i).first()).toBeVisible()
  })
})

async function publish(admin: Page, note: string, version: number): Promise<void> {
  await admin.getByRole('button', { name: 'Review and publish' }).click()
  await finishPublishing(admin, note, version)
}

async function finishPublishing(admin: Page, note: string, version: number): Promise<void> {
  await admin.getByLabel('Why').fill(note)
  await admin.getByRole('button', { name: 'Sign and publish' }).click()
  await expect(admin.getByText(`Version ${version} is`).first()).toBeVisible()
  await admin.keyboard.press('Escape')
}

/** The machine files right after it has refused the call; a slow computer may take a moment. */
async function openRequest(page: Page, handle: string): Promise<void> {
  await expect(async () => {
    await page.goto(`/acme/approvals/${handle}`)
    await expect(page.getByRole('button', { name: 'Deny' })).toBeVisible({ timeout: 2_000 })
  }).toPass({ timeout: 60_000 })
}

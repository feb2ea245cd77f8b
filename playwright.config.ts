import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { defineConfig } from '@playwright/test'

/**
 * One server a run, on a port and with a data folder of its own, so that runs beside one another do not meet. The
 * workers inherit what this process settles here; it takes the folder away when it ends, the server being down by then.
 */
process.env.E2E_PORT ??= String(20_000 + (process.pid % 900) * 3)
if (!process.env.E2E_DATA) {
  const made = mkdtempSync(path.join(tmpdir(), 'holdpoint-e2e-'))
  chmodSync(made, 0o711) // PostgreSQL may run as another user, which must be able to pass through
  process.env.E2E_DATA = made
  process.once('exit', () => rmSync(made, { recursive: true, force: true }))
}
const port = Number(process.env.E2E_PORT)
const baseURL = `http://localhost:${port}`

/** Chromium as root has no sandbox, and nothing of it may look for a network. */
const CHROMIUM_ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

export default defineConfig({
  testDir: 'e2e',
  // Guards against what hangs, never a measure: the machine may be slow.
  timeout: 240_000,
  expect: { timeout: 20_000 },
  fullyParallel: false,
  workers: 1,
  forbidOnly: !!process.env.CI,
  reporter: [['list']],
  outputDir: 'test-results',
  use: {
    baseURL,
    browserName: 'chromium',
    launchOptions: { executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: CHROMIUM_ARGS },
    screenshot: 'only-on-failure',
    trace: 'retain-on-failure',
    timezoneId: 'Europe/Berlin',
    locale: 'en-GB',
  },
  webServer: {
    command: 'node server/boot/start.mjs',
    // The one-time sign-in that the start prints is in process.env.E2E_SIGN_IN.
    wait: { stdout: /Holdpoint is at \S+\s+(?:Sign in as the owner, once: (?<e2e_sign_in>\S+)\s+)?Ctrl-C/ },
    env: {
      PORT: String(port),
      HOLDPOINT_DATA: process.env.E2E_DATA,
      HOLDPOINT_PUBLIC_URL: baseURL,
      DATABASE_URL: process.env.E2E_DATABASE_URL ?? '',
    },
    timeout: 600_000,
    stdout: 'pipe',
    gracefulShutdown: { signal: 'SIGTERM', timeout: 60_000 },
  },
})

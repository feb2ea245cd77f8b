import type { ClientHome } from '#agent/clients/client-home.ts'
import type { DaemonStatus } from '#agent/daemon-client.ts'
import type { Home } from '#agent/home.ts'
import type { ScopedRule } from '#core/boundary/compile.ts'
import type { Problem } from '#core/boundary/problem.ts'

/**
 * One thing that is not as it should be. `off`: rules do not hold, or something is not recorded or reported. `note`: it works,
 * and somebody should know. `fix`: a command that can be pasted; where none can, `todo` says what a person does.
 */
export type Finding = {
  code: string
  severity: 'off' | 'note'
  what: string
  why: string
  fix?: string
  todo?: string
}

/** What is looked at, read once. */
export type Examined = {
  home: Home
  clientHome: ClientHome
  version: string
  nodeVersion: string
  now: number
  /** Undefined when the daemon did not answer as it should; `refused` says why. */
  status: DaemonStatus | undefined
  refused: { code: string; message: string } | undefined
  /** Rules in force as they can be read without the daemon. */
  rules: readonly ScopedRule[]
  configProblems: readonly Problem[]
}

export type Check = (examined: Examined) => Finding[] | Promise<Finding[]>

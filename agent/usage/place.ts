import type { TagSource } from '#core/usage/attribution.ts'
import type { Covered } from '#core/usage/bucket.ts'
import type { Tags } from '#core/usage/tags.ts'

/** Where a session's calls belong, as it was known when they were read. */
export type Place = {
  client: string
  session: string
  /** The session's working folder. */
  directory?: string
  /** Names of the repository, see core/usage/attribution.ts. */
  repository: readonly string[]
  /** What was said on this machine: by the run, or by the repository's own file. */
  tags: Tags
  from: Readonly<Record<string, TagSource>>
  /** What signed rules ask of the session's environment, as far as it held there: `NAME=pattern`, never a value. */
  environment?: readonly string[]
  /** Whether a plan covers the session, as far as its client's files and its hook's process told; absent = nobody said. */
  covered?: Covered
}

import { join } from 'node:path'
import { type ClaimJudgement, judgeClaim, readClaim } from '#agent/guard/claimant.ts'
import type { Runtime } from './runtime.ts'

/** Judges the process that asks for something that loosens: the installed program, or the one that this daemon is. */
export function judgeAsker(
  { home, now }: Pick<Runtime, 'home' | 'now'>,
  asked: Record<string, unknown>,
  isCall: (words: string[]) => boolean,
): ClaimJudgement {
  const own = process.argv[1]
  const programs = [join(home.bin, 'holdpoint.cjs'), ...(own === undefined ? [] : [own])]
  return judgeClaim(readClaim(asked), now(), home.root, programs, isCall)
}

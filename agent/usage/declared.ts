import { type Home, readKeptText, readText } from '#agent/home.ts'
import { chooseLocalDocument } from '#core/rules/last-good.ts'
import type { DeclaredCover } from '#core/usage/declared-cover.ts'

/** Sections of config.yaml that are no rules. */
const OTHER_SECTIONS = ['attribution', 'team']

/** What config.yaml declares to be covered by a plan; of a broken file what its last good text said. */
export function declaredHere(home: Home): DeclaredCover | undefined {
  const text = readKeptText(home.config)
  if (text === undefined) return undefined
  const lastGoodText = readText(home.localGood)
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone
  return chooseLocalDocument({
    text,
    ...(lastGoodText === undefined ? {} : { lastGoodText }),
    options: { zone, other: OTHER_SECTIONS },
  }).covered
}

/** Pairs of a run, at most: far more keys than an organisation has. */
const PAIRS_MAX = 32
// as core/usage/tags.ts has key and value; its reader of texts is too large for this program
const PAIR = /^\s*[a-z][a-z0-9_-]{0,31}\s*=\s*[a-z0-9][a-z0-9._-]{0,62}\s*$/

/**
 * Of HOLDPOINT_TAGS what has the form of tags, and nothing else that may stand there. What had not is told by a `?`, so that
 * the daemon can say that something was left out.
 */
export function tagPairs(text: string | undefined): string {
  const parts = (text ?? '')
    .slice(0, 8192)
    .split(',')
    .filter(part => part.trim() !== '')
  const pairs = parts.filter(part => PAIR.test(part)).slice(0, PAIRS_MAX)
  return [...pairs.map(pair => pair.replace(/\s/g, '')), ...(pairs.length < parts.length ? ['?'] : [])].join(',')
}

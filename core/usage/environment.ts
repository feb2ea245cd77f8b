import { globMatches } from '#core/glob.ts'

/** Which of the texts `NAME=pattern` hold in an environment. Only the variables that they name are looked at. */
export function heldIn(texts: readonly string[], env: Readonly<Record<string, string | undefined>>): string[] {
  return texts.filter(text => {
    const at = text.indexOf('=')
    const name = text.slice(0, at)
    const value = at > 0 && Object.hasOwn(env, name) ? env[name] : undefined
    return value !== undefined && globMatches(text.slice(at + 1), value)
  })
}

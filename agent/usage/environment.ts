import { hash } from 'node:crypto'
import { type Home, readJson, remove, writeJson } from '#agent/home.ts'
import { type EnvironmentFile, environmentFile } from '#agent/hook/environment.ts'
import type { TrustedRuleSet } from '#core/rule-set.ts'
import { asksForSecret } from '#core/usage/secret-name.ts'
import { spendOf } from './attribute.ts'

/** What the signed attribution rules ask of a session's environment, each once; never about a secret. */
export function environmentPatterns(set: TrustedRuleSet | undefined): string[] {
  const asked = (spendOf(set)?.attribution ?? []).flatMap(({ when }) => when.environment ?? [])
  return [...new Set(asked)].filter(text => !asksForSecret(text))
}

/** Rules that ask about a variable whose name is a secret's: they hold nothing here. */
export const secretsAsked = (set: TrustedRuleSet | undefined): number =>
  (spendOf(set)?.attribution ?? []).filter(
    ({ when }) => when.environment !== undefined && asksForSecret(when.environment),
  ).length

/** Tells the hooks what to look at, and understands what they found. */
export class EnvironmentRules {
  private of: TrustedRuleSet | undefined
  private asked: EnvironmentFile | undefined

  constructor(
    private readonly home: Home,
    private readonly set: () => TrustedRuleSet | undefined,
  ) {}

  private list(): EnvironmentFile | undefined {
    const set = this.set()
    if (this.of !== set || set === undefined) {
      this.of = set
      const patterns = environmentPatterns(set)
      const name = hash('sha256', JSON.stringify(patterns), 'base64url').slice(0, 22)
      this.asked = patterns.length > 0 ? { name, patterns } : undefined
    }
    return this.asked
  }

  /** Writes down for the hooks what is asked; whenever rules may have changed. */
  write(): void {
    const asked = this.list()
    const path = environmentFile(this.home.root)
    if (!asked) remove(path)
    else if (readJson<EnvironmentFile>(path)?.name !== asked.name) writeJson(this.home, path, asked)
  }

  /** What a hook found to hold. Undefined: it found nothing out, or by a list that is not in force any more. */
  heldBy(said: string | string[] | undefined): string[] | undefined {
    const asked = this.list()
    const [name, places = ''] = typeof said === 'string' && said.length < 8192 ? said.split(':') : []
    if (!asked || name !== asked.name) return undefined
    return places.split('.').flatMap(place => (/^\d{1,5}$/.test(place) ? (asked.patterns[Number(place)] ?? []) : []))
  }
}

import { readdirSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { OWN_ADDRESSES, whyNoSlug } from '#core/slug.ts'

const app = path.resolve(import.meta.dirname, '../../app')

/** First parts of addresses that the routes below a folder take; a group in parentheses or a file adds none. */
function addresses(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap(entry => {
    if (!entry.isDirectory() || /^[_[]/.test(entry.name)) return []
    return entry.name.startsWith('(') ? addresses(path.join(folder, entry.name)) : [entry.name]
  })
}

describe('an organisation’s short name', () => {
  it('is never an address of the product itself', () => {
    const found = addresses(app)
    expect(found).toContain('sign-in')
    expect(found.filter(name => !OWN_ADDRESSES.has(name))).toEqual([])
    for (const name of found) expect(whyNoSlug(name)).toMatch(/address of the product/)
  })
  it.each(['acme', 'a', '7', 'api-team', 'a'.repeat(40)])('may be %s', slug => {
    expect(whyNoSlug(slug)).toBeUndefined()
  })
  it.each(['', '-a', 'Acme', 'a b', 'a'.repeat(41), 'ü', 'a/b', 'a\n'])('may not be %j', slug => {
    expect(whyNoSlug(slug)).toMatch(/no short name/)
  })
})

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const css = readFileSync(new URL('../../app/globals.css', import.meta.url), 'utf8')
const root = css.slice(css.indexOf(':root {'), css.indexOf('@theme inline'))
const [lightText, darkText] = root.split('@variant dark')
const palette = (text = '') =>
  Object.fromEntries([...text.matchAll(/--([a-z0-9-]+): (#[0-9a-f]{6});/g)].map(found => [found[1]!, found[2]!]))
const LIGHT = palette(lightText)
const PALETTES = { light: LIGHT, dark: { ...LIGHT, ...palette(darkText) } }

function luminance(hex: string): number {
  const [r, g, b] = [1, 3, 5].map(at => {
    const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!
}

/** WCAG 2.2, contrast ratio. */
function contrast(one: string, other: string): number {
  const [high, low] = [luminance(one), luminance(other)].sort((a, b) => b - a)
  return (high! + 0.05) / (low! + 0.05)
}

const TEXT = ['ink', 'ink-2', 'ink-3', 'accent', 'waiting', 'held', 'passed', 'shadow']
const GROUNDS = ['bg', 'panel', 'raised']
const STATES = ['waiting', 'held', 'passed', 'shadow', 'accent']

describe.each(Object.entries(PALETTES))('the %s palette', (_, colour) => {
  it('keeps text readable on every ground (AA, 4.5)', () => {
    for (const text of TEXT) {
      for (const ground of GROUNDS)
        expect(contrast(colour[text]!, colour[ground]!), `${text} on ${ground}`).toBeGreaterThanOrEqual(4.5)
    }
    for (const state of STATES) {
      for (const text of [state, 'ink', 'ink-2', 'ink-3']) {
        expect(contrast(colour[text]!, colour[`${state}-soft`]!), `${text} on ${state}-soft`).toBeGreaterThanOrEqual(
          4.5,
        )
      }
    }
  })

  it('keeps words on filled buttons readable, hovered too', () => {
    for (const kind of ['accent', 'held']) {
      for (const fill of [kind, `${kind}-hover`]) {
        expect(contrast(colour[`${kind}-ink`]!, colour[fill]!), `${kind}-ink on ${fill}`).toBeGreaterThanOrEqual(4.5)
      }
    }
  })

  it('keeps the edge of a control and the focus ring visible (3)', () => {
    for (const ground of GROUNDS) {
      for (const edge of ['control', 'accent'])
        expect(contrast(colour[edge]!, colour[ground]!), `${edge} on ${ground}`).toBeGreaterThanOrEqual(3)
    }
  })
})

it('names every light colour in the dark palette too', () => {
  expect(Object.keys(palette(darkText)).toSorted()).toEqual(Object.keys(LIGHT).toSorted())
})

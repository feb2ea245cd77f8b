import { expect, test } from 'vitest'
import { readSources } from './sources.ts'

const SOURCE_CAP = 400
const TEST_CAP = 600
/** Of the sources' files, in lines. */
const MEDIAN = 90
const P95 = 300

/** Files that may be longer, each with the reason. */
const EXEMPT: Record<string, string> = {}

const isTest = (file: string) => /^(test|e2e)\//.test(file)
const lengths = [...readSources()].map(([file, text]) => ({ file, lines: text.trimEnd().split('\n').length }))
const sources = lengths.filter(({ file }) => !isTest(file))

function quantile(share: number): number {
  const sorted = sources.map(({ lines }) => lines).sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!
}

test(`no source file is longer than ${SOURCE_CAP} lines, no test file longer than ${TEST_CAP}`, () => {
  const long = lengths.filter(({ file, lines }) => lines > (isTest(file) ? TEST_CAP : SOURCE_CAP) && !(file in EXEMPT))
  expect(long).toEqual([])
})

test(`half of the source files have at most ${MEDIAN} lines`, () => {
  expect(quantile(0.5)).toBeLessThanOrEqual(MEDIAN)
})

test(`95 of 100 source files have at most ${P95} lines`, () => {
  expect(quantile(0.95)).toBeLessThanOrEqual(P95)
})

test('an exemption names a file that needs it', () => {
  const needed = lengths
    .filter(({ file, lines }) => lines > (isTest(file) ? TEST_CAP : SOURCE_CAP))
    .map(({ file }) => file)
  expect(Object.keys(EXEMPT).filter(file => !needed.includes(file))).toEqual([])
})

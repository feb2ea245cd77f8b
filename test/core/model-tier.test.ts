import { describe, expect, it } from 'vitest'
import { MODEL_CATALOGUE, modelTier, subagentTier, TIERS, tierByPriceRank } from '#core/model-tier.ts'

const prices = [
  { model: 'claude-haiku-4-5', input: 1, output: 5 },
  { model: 'claude-sonnet-4-5', input: 3, output: 15 },
  { model: 'claude-opus-4-5', input: 5, output: 25 },
  { model: 'claude-opus-4-1', input: 15, output: 75 },
  { model: 'cheap-1', input: 0.1, output: 0.4 },
  { model: 'middle-1', input: 2, output: 15 },
  { model: 'middle-2', input: 3, output: 15 },
  { model: 'dear-1', input: 5, output: 25 },
  { model: 'free-1', input: 0, output: 0 },
]

describe('modelTier', () => {
  it('is what is declared for an exact id or alias', () => {
    expect(modelTier('claude-opus-5-5')).toBe('opus')
    expect(modelTier('claude-sonnet-4-5-20250929')).toBe('sonnet')
    expect(modelTier('claude-sonnet-4-5[1m]')).toBe('sonnet')
    expect(modelTier('gpt-6-sol:priority')).toBe('opus')
    expect(modelTier('openai/gpt-5.5')).toBe('sonnet')
    expect(modelTier('us.anthropic.claude-haiku-4-5-20251001-v1:0')).toBe('haiku')
    expect(modelTier('haiku')).toBe('haiku')
    expect(modelTier('opusplan')).toBe('opus')
  })

  it('is never guessed from a part of an id', () => {
    for (const id of [
      'claude-opus',
      'my-opus-5-5',
      'claude-opus-5-5-20991231',
      'not-haiku',
      'gpt-6-sol:other',
      'elsewhere/gpt-5.5',
      'openai/openai/gpt-5.5',
      'CLAUDE-OPUS-5-5',
      '',
      'toString',
      '__proto__',
      'constructor',
    ]) {
      expect(modelTier(id), id).toBe('unknown')
    }
  })

  it("takes an organisation's declaration before its own", () => {
    expect(modelTier('stub-model', { declared: { 'stub-model': 'sonnet' } })).toBe('sonnet')
    expect(modelTier('claude-opus-5-5', { declared: { 'claude-opus-5-5': 'haiku' } })).toBe('haiku')
    expect(modelTier('toString', { declared: {} })).toBe('unknown')
  })

  it('lists no model twice', () => {
    const all = TIERS.flatMap(tier => MODEL_CATALOGUE[tier])
    expect(new Set(all).size).toBe(all.length)
  })
})

describe('tierByPriceRank', () => {
  it('ranks an undeclared model among the declared ones, toward the higher tier on a tie', () => {
    const rank = (model: string) => modelTier(model, { prices })
    expect(rank('cheap-1')).toBe('haiku')
    expect(rank('middle-1')).toBe('haiku')
    expect(rank('middle-2')).toBe('sonnet')
    expect(rank('dear-1')).toBe('opus')
  })

  it('is unknown without a price, or without anything to compare with', () => {
    expect(tierByPriceRank('nowhere', prices)).toBe('unknown')
    expect(tierByPriceRank('free-1', prices)).toBe('unknown')
    expect(tierByPriceRank('dear-1', [{ model: 'dear-1', input: 5, output: 25 }])).toBe('unknown')
  })
})

describe('subagentTier', () => {
  it("is the named model's, or the session's when it names none or inherits", () => {
    expect(subagentTier({ model: 'haiku', sessionModel: 'claude-opus-5-5' })).toBe('haiku')
    for (const model of [undefined, '', 'inherit'])
      expect(subagentTier({ model, sessionModel: 'claude-opus-5-5' })).toBe('opus')
    expect(subagentTier({})).toBe('unknown')
    expect(subagentTier({ model: 'inherit', sessionModel: 'inherit' })).toBe('unknown')
    expect(subagentTier({ model: 'stub-model' })).toBe('unknown')
  })
})

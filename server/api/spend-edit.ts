import { z } from 'zod'
import type { Json, JsonObject } from '#core/boundary/rule.ts'
import type { SpendEdit } from '#core/rules/spend-edit.ts'

const json: z.ZodType<Json> = z.lazy(() =>
  z.union([z.string().max(1000), z.number(), z.boolean(), z.array(json).max(1000), z.record(key, json)]),
)
const key = z.string().max(100)
/** An entry in the document's own keys and words; what they say is read as the document is. */
const entry: z.ZodType<JsonObject> = z.record(key, json) as never
const at = z.object({ index: z.number().int().min(0).max(10_000), was: entry })
const word = z.string().min(1).max(100)

/** One edit as pages send it. */
export const spendEdit: z.ZodType<SpendEdit> = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('put_rate'), rate: entry, at: at.optional() }),
  z.object({ kind: z.literal('remove_rate'), at }),
  z.object({ kind: z.literal('set_unpriced'), unpriced: entry.optional() }),
  z.object({ kind: z.literal('put_exchange'), rate: entry, at: at.optional() }),
  z.object({ kind: z.literal('remove_exchange'), at }),
  z.object({ kind: z.literal('put_attribution'), rule: entry, at: at.optional() }),
  z.object({ kind: z.literal('move_attribution'), at, to: z.number().int().min(0).max(10_000) }),
  z.object({ kind: z.literal('remove_attribution'), at }),
  z.object({ kind: z.literal('add_tag_value'), key: word, value: word }),
  z.object({ kind: z.literal('remove_tag_value'), key: word, value: word }),
  z.object({ kind: z.literal('remove_tag'), key: word }),
  z.object({ kind: z.literal('rename'), key: word, from: word, to: word }),
  z.object({ kind: z.literal('remove_rename'), key: word, from: word }),
])

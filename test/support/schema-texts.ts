/** Finds every place of a schema that takes a text, so that a test can try what must never fit there. */

type Def = {
  type: string
  shape?: Record<string, Schema>
  catchall?: Schema
  element?: Schema
  innerType?: Schema
  options?: Schema[]
  keyType?: Schema
  valueType?: Schema
}
export type Schema = { _zod: { def: Def }; safeParse(value: unknown): { success: boolean } }

/** Prose, paths, names and secrets: what must fit into no field of what leaves a machine. */
export const PROSE = [
  'please delete the staging database',
  'Dear Anna, the merger is off',
  '/home/anna/acme-merger/src/plan.md',
  'C:\\Users\\anna\\plan.md',
  'anna@example.com',
  'sk-ant-api03-AbCdEf',
  'AKIAIOSFODNN7EXAMPLE',
  'rm -rf / --no-preserve-root',
  'https://internal.example/merger?x=1',
  '{"tool_input":"x"}',
  'línea ünïcode',
  'two words',
]

/** Every place of a schema that takes a text, by its path; anything the walk does not know fails it. */
export function textsOf(schema: Schema, path: string): { path: string; schema: Schema }[] {
  const { def } = schema._zod
  switch (def.type) {
    case 'object':
      if (def.catchall?._zod.def.type !== 'never') throw new Error(`${path} takes unknown members`)
      return Object.entries(def.shape!).flatMap(([key, member]) => textsOf(member, `${path}.${key}`))
    case 'array':
      return textsOf(def.element!, `${path}[]`)
    case 'record':
      return [...textsOf(def.keyType!, `${path}.key`), ...textsOf(def.valueType!, `${path}.value`)]
    case 'optional':
      return textsOf(def.innerType!, path)
    case 'union':
      return def.options!.flatMap(option => textsOf(option, path))
    case 'string':
      return [{ path, schema }]
    case 'enum':
    case 'literal':
    case 'number':
    case 'int':
    case 'boolean':
      return []
    default:
      throw new Error(`${path} is a ${def.type}, which this walk does not know`)
  }
}

export type Kept<Value> = {
  get(key: string): Value | undefined
  /** Keeps a value and hands it back. */
  put(key: string, value: Value): Value
}

/** Remembers what stays true under its key, so that it is worked out once; beyond `most` values the oldest are forgotten. */
export function keptValues<Value>(most: number): Kept<Value> {
  const values = new Map<string, Value>()
  return {
    get: key => values.get(key),
    put: (key, value) => {
      if (values.size >= most) values.delete(values.keys().next().value!)
      values.set(key, value)
      return value
    },
  }
}

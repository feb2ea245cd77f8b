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

/** The same for values of very different sizes: beyond a sum of weights those that were not asked for the longest are forgotten. */
export function keptByWeight<Value>(most: number, weigh: (value: Value) => number): Kept<Value> {
  const values = new Map<string, Value>()
  let weight = 0
  const forget = (key: string) => {
    const value = values.get(key)
    if (value === undefined) return
    values.delete(key)
    weight -= weigh(value)
  }
  return {
    get: key => {
      const value = values.get(key)
      if (value === undefined) return undefined
      values.delete(key)
      values.set(key, value)
      return value
    },
    put: (key, value) => {
      forget(key)
      values.set(key, value)
      weight += weigh(value)
      for (const oldest of values.keys()) {
        if (weight <= most || oldest === key) break
        forget(oldest)
      }
      return value
    },
  }
}

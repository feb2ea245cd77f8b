import { AppError } from '#core/error.ts'

/** @throws AppError BAD_INPUT for a parameter that is not known, and for one that stands twice and may not (`many`) */
export function refuseOthers(
  query: URLSearchParams,
  known: readonly string[],
  many: readonly string[] = ['filter'],
): void {
  for (const name of new Set(query.keys()))
    if (!known.includes(name))
      throw new AppError('BAD_INPUT', 'A parameter is not known here.', {
        remedy: `Those are ${known.join(', ')}.`,
      })
    else if (!many.includes(name) && query.getAll(name).length > 1)
      throw new AppError('BAD_INPUT', `${name} stands more than once.`)
}

/** One of some words, the first where none is given. */
export function oneOf<T extends string>(query: URLSearchParams, name: string, words: readonly T[]): T {
  const word = query.get(name) ?? words[0]!
  if (!(words as readonly string[]).includes(word))
    throw new AppError('BAD_INPUT', `${name} is one of ${words.join(', ')}.`)
  return word as T
}

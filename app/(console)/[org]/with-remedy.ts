import { errorRemedy } from './app-error.ts'

/** For dialogs that show a failure's message only: what to do about it is said with it. */
export async function withRemedy<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    const remedy = errorRemedy(error)
    throw remedy && error instanceof Error ? new Error(`${error.message} ${remedy}`, { cause: error }) : error
  }
}

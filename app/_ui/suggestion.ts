/** One thing that could stand where the cursor is. */
export type Suggestion = {
  label: string
  help?: string
  /** What is written in place of the stretch. */
  insert: string
  /** How many characters before the end of `insert` the cursor goes; its end when absent. */
  back?: number
  /** How many characters before a closing quote are selected, to be written over. */
  select?: number
  /** Something can be suggested where the cursor then stands. */
  more?: boolean
}

/** What could stand in the stretch [from, to) of a text; never empty. */
export type Suggestions = { from: number; to: number; items: readonly Suggestion[] }

/** Looks up what could stand at a cursor. `asked`: by a key, rather than by typing. */
export type Suggest = (text: string, at: number, asked: boolean) => Suggestions | undefined

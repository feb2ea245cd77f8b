/** How the installed module is tried without opencode: by a Node of its own that loads it and sends one event through it. */
declare const __OPENCODE_TRY__: string | undefined

/** The program that does so, as it was built; undefined where the sources run without having been bundled. */
const builtTry = (): string | undefined => (typeof __OPENCODE_TRY__ === 'string' ? __OPENCODE_TRY__ : undefined)

/** The event's fields go to its standard input; it ends and prints as a hook's program would. */
export function tryPlugin(file: string, node = process.execPath): { exe: string; args: string[] } | undefined {
  const program = builtTry()
  return program === undefined ? undefined : { exe: node, args: ['-e', program, file] }
}

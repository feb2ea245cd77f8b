import type { Command } from './command.ts'
import { EXIT } from './exit.ts'

declare const __HOLDPOINT_VERSION__: string | undefined
declare const __HOOK_SOURCE__: string | undefined
declare const __STATUSLINE_SOURCE__: string | undefined

/** This build's version; `0.0.0` where the sources run without having been bundled. */
export const VERSION = typeof __HOLDPOINT_VERSION__ === 'string' ? __HOLDPOINT_VERSION__ : '0.0.0'

/** The text of the program that clients start, carried inside this one. */
export const HOOK_SOURCE = typeof __HOOK_SOURCE__ === 'string' ? __HOOK_SOURCE__ : undefined

/** The text of the program that Claude Code starts for its status line. */
export const STATUSLINE_SOURCE = typeof __STATUSLINE_SOURCE__ === 'string' ? __STATUSLINE_SOURCE__ : undefined

export const version: Command = {
  name: 'version',
  summary: 'print the version of this program',
  about: 'Prints the version of this program and of the Node that runs it.',
  examples: [['holdpoint version --json', 'for a bug report']],
  async run({ json, terminal }) {
    if (json) terminal.json({ version: VERSION, node: process.versions.node, platform: process.platform })
    else terminal.line(`holdpoint ${VERSION} (Node ${process.versions.node}, ${process.platform})`)
    return EXIT.ok
  },
}

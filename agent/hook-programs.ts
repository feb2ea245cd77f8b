import { basename, join } from 'node:path'
import type { ClientAdapter } from './clients/adapter.ts'
import type { HookInstall } from './clients/hook-editor.ts'
import type { Home } from './home.ts'

/**
 * Where the client's small program lies. A client's settings know our entries by a `.holdpoint` folder or a file called
 * `holdpoint…`; a home of another name needs the second.
 */
export function hookPrograms(home: Home): string[] {
  const plain = join(home.bin, 'hook.cjs')
  return basename(home.root) === '.holdpoint' ? [plain] : [plain, join(home.bin, 'holdpoint-hook.cjs')]
}

/** Where the program for Claude Code's status line lies. */
export const statusLineProgram = (home: Home): string => join(home.bin, 'statusline.cjs')

/** What an install would write now: the daemon's address and token, and the program beside it run by this very Node. */
export function hookInstall(
  home: Home,
  adapter: Pick<ClientAdapter, 'hookPath'>,
  door: { port: number; hookToken: string },
  chosen: Pick<HookInstall, 'whenBroken' | 'form'>,
): HookInstall {
  return {
    hookUrl: `http://127.0.0.1:${door.port}${adapter.hookPath}`,
    hookToken: door.hookToken,
    hookCommand: { exe: process.execPath, args: [hookPrograms(home).at(-1)!] },
    ...chosen,
  }
}

/**
 * Loads the installed module as opencode does and sends one event through it: the module's path is the last argument, the
 * event's fields come on standard input, and what the daemon said goes to where a hook's program would say it.
 */
import { readFileSync } from 'node:fs'
import type { Heard } from './daemon.ts'
import { TRY_EVENT } from './installed.ts'

type Loaded = { default?: { server?(context: object): Promise<{ event?(input: object): Promise<void> }> } }

async function run(): Promise<void> {
  const text = readFileSync(process.argv.at(-1)!, 'utf8')
  const fields = JSON.parse(readFileSync(0, 'utf8')) as Record<string, unknown>
  // its folder does not say that files there are modules, as opencode takes them to be
  const loaded = (await import(`data:text/javascript;base64,${Buffer.from(text).toString('base64')}`)) as Loaded
  const hooks = await loaded.default?.server?.({ directory: process.cwd() })
  if (!hooks?.event) throw new Error('the module has no hooks')
  const heard = await new Promise<Heard>((resolve, reject) => {
    hooks.event!({ event: { type: TRY_EVENT, properties: { fields, heard: resolve } } }).catch(reject)
  })
  if (heard.kind === 'none') throw new Error(heard.why)
  process.stdout.write(heard.stdout)
  process.stderr.write(heard.stderr)
  process.exitCode = heard.exit
}

run().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
})

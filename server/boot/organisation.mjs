// `npm run organisation -- SLUG OWNER@EXAMPLE.COM [NAME] [OWNER'S NAME]`: one more organisation on this installation.
import { endChildren, ended, startChild } from './child.mjs'
import { dataFolder, root, serverEnvironment } from './environment.mjs'
import { ensureGenerated, ensureInstalled } from './install.mjs'

const say = line => console.log(line)
const words = process.argv.slice(2)

async function main() {
  if (words.length < 2) {
    throw new Error('Say which: npm run organisation -- northwind ana@northwind.example "Northwind" "Ana Owner"')
  }
  await ensureInstalled(say)
  await ensureGenerated(say)
  const { ensureBuilt, ORGANISATION } = await import('./build.mjs')
  await ensureBuilt(say)
  const { openDatabase } = await import('./database.mjs')
  const data = dataFolder()
  const opened = await openDatabase(data, say)
  try {
    const env = { ...serverEnvironment({ data, databaseUrl: opened.url }), NODE_ENV: 'production' }
    const child = startChild(
      process.execPath,
      ['--conditions=react-server', '--enable-source-maps', ORGANISATION, ...words],
      {
        cwd: root,
        env,
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    )
    let text = ''
    child.stdout.setEncoding('utf8').on('data', part => {
      text += part
    })
    await ended(child)
    const made = JSON.parse(text.trim().split('\n').at(-1) ?? '{}')
    if (made.error) throw new Error(made.error)
    say(`\n  Made the organisation ${made.slug}.`)
    say(`  Its owner signs in, once and within a quarter of an hour: ${made.signInUrl}\n`)
  } finally {
    await opened.leave()
  }
}

await main().catch(async error => {
  console.error(`\n${error.message}\n`)
  process.exitCode = 1
})
await endChildren()
process.exit()

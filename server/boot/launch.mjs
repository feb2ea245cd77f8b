// The whole of `npm start`: install, generate, build, database, seed, serve; and on Ctrl-C everything back.
import path from 'node:path'
import { endChildren, ended, startChild } from './child.mjs'
import { dataFolder, publicUrl, removeTemporary, root, serverEnvironment } from './environment.mjs'
import { ensureGenerated, ensureInstalled } from './install.mjs'
import { nameRunning } from './running.mjs'
import { answering, findPort, startServer } from './serving.mjs'

const NEXT = path.join(root, 'node_modules/next/dist/bin/next')
const say = line => console.log(line)

/** Ends the process with everything it started, once, whoever asks. */
function makeStop() {
  let stopping
  const undo = []
  const stop = code => {
    stopping ??= (async () => {
      await endChildren()
      for (const step of undo.reverse()) await step()
      process.exit(code)
    })()
    return stopping
  }
  return { stop, isStopping: () => stopping !== undefined, onStop: step => undo.push(step) }
}

/**
 * @param {{ dev?: boolean }} [options] `dev`: Next's development server in place of a build
 */
export async function launch({ dev = false } = {}) {
  const { stop, isStopping, onStop } = makeStop()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => stop(0))
  if (process.env.npm_lifecycle_event) followShell(stop)
  try {
    if ((await serve(dev, onStop, isStopping)) === 'runs_already') await stop(0)
  } catch (error) {
    if (!isStopping()) console.error(`\n${process.env.HOLDPOINT_DEBUG ? error.stack : error.message}\n`)
    await stop(1)
  }
}

/** npm hands a signal to the shell between it and us, which ends without telling us. */
function followShell(stop) {
  const shell = process.ppid
  setInterval(() => process.ppid !== shell && stop(0), 500).unref()
}

async function serve(dev, onStop, isStopping) {
  onStop(removeTemporary)
  const data = dataFolder()
  const running = await findPort(data)
  if (running) {
    say(`\n  Holdpoint already runs at ${running.url}, with the data folder ${data} (process ${running.pid}).`)
    say('  Nothing was started. Ctrl-C where it was started stops it.\n')
    return 'runs_already'
  }
  await ensureInstalled(say)
  await ensureGenerated(say)
  const build = await import('./build.mjs')
  await (dev ? build.bundleParts() : build.ensureBuilt(say))
  const { openDatabase } = await import('./database.mjs')
  if (isStopping()) return
  const opening = openDatabase(data, say)
  onStop(() => opening.then(database => database.leave()).catch(() => {})) // also when asked to stop half-way
  const env = serverEnvironment({ data, databaseUrl: (await opening).url })
  if (isStopping()) return
  const server = dev
    ? startServer([NEXT, 'dev', '--port', env.PORT, '--hostname', env.HOSTNAME], env)
    : startServer([build.SERVER], env, { banner: false })
  // named once it has the port: a later start sends people there
  const serving = answering(server, { tells: !dev }).then(() => onStop(nameRunning(data)))
  const [{ signInUrl }] = await Promise.all([seed(build.SEED, env), serving])
  say(`\n  Holdpoint is at ${publicUrl()}`)
  if (signInUrl) say(`  Sign in as the owner, once: ${signInUrl}`)
  say('  Ctrl-C stops it, and its database unless somebody else uses it; nothing is lost.\n')
  const code = await ended(server)
  throw new Error(`the server ended (${server.signalCode ?? `code ${code}`}). Start it again; nothing is lost.`)
}

/** Runs the seed on every start: it looks for itself whether the database needs anything. */
async function seed(file, env) {
  const child = startChild(process.execPath, ['--conditions=react-server', '--enable-source-maps', file], {
    cwd: root,
    env: { ...env, NODE_ENV: 'production' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  child.stdout.setEncoding('utf8').on('data', part => {
    text += part
  })
  if ((await ended(child)) !== 0) throw new Error('the first organisation could not be made; the reason is above')
  const last = text.trim().split('\n').at(-1)
  return last ? JSON.parse(last) : {}
}

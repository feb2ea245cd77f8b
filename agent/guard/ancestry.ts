/** Who started this process, and who started them. A deterrent, and called one: see judgeChain. */
import { execFileSync } from 'node:child_process'
import { readFileSync, readlinkSync } from 'node:fs'
import { AGENT_NAMES, AGENT_PATHS, INTERPRETERS, LOGINS, SHELLS, TERMINALS } from './known.ts'

/** One process of the chain. `name` is what the system calls it; `exe` and `tty` where they can be read. */
export type ProcessLink = { pid: number; parent: number; name: string; argv: string[]; exe?: string; tty?: number }

/** The chain from a process up to the first one, or why it cannot be read here. */
export type Chain = { readable: true; links: ProcessLink[] } | { readable: false; why: string }

/** Why a chain was refused, or what it ends in. */
export type ChainJudgement =
  | { ok: true; anchor: 'login shell' | 'sign-in' | 'terminal' | 'not checked'; program: string }
  | { ok: false; code: 'agent' | 'seen_agent' | 'no_terminal' | 'gone'; program: string; words: string }

/** A chain longer than this is no chain of a person's. */
const LINKS_MAX = 64

/** Reads the chain of ancestors of a process, itself first. Linux reads /proc, macOS asks ps, Windows cannot say. */
export function readChain(pid: number): Chain {
  const links: ProcessLink[] = []
  try {
    if (process.platform === 'linux') walk(pid, links, readLinuxProcess)
    else if (process.platform === 'win32')
      return { readable: false, why: 'Windows does not tell a process’s ancestors reliably' }
    else {
      const table = readProcessTable()
      walk(pid, links, at => table.get(at))
    }
  } catch {
    return { readable: false, why: 'the list of processes could not be read' }
  }
  return { readable: true, links }
}

function walk(pid: number, links: ProcessLink[], read: (pid: number) => ProcessLink | undefined): void {
  for (let at = pid; at > 0 && links.length < LINKS_MAX; ) {
    const link = read(at)
    if (!link) return
    links.push(link)
    at = link.parent
  }
}

/** proc(5): `stat` is `pid (comm) state ppid pgrp session tty_nr …`, and comm may itself hold spaces and brackets. */
function readLinuxProcess(pid: number): ProcessLink | undefined {
  let stat: string
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    return undefined
  }
  const close = stat.lastIndexOf(')')
  const fields = stat.slice(close + 2).split(' ')
  const link: ProcessLink = {
    pid,
    parent: Number(fields[1]),
    name: stat.slice(stat.indexOf('(') + 1, close),
    argv: orElse(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1), []),
    tty: Number(fields[4]),
  }
  // of another user's process (sshd, login) the program's path may not be read
  const exe = orElse(() => readlinkSync(`/proc/${pid}/exe`), undefined)
  return exe === undefined ? link : { ...link, exe }
}

/** One call of ps for all processes: `comm` holds the program's path on macOS, `args` the arguments joined by spaces. */
function readProcessTable(): Map<number, ProcessLink> {
  const ps = (columns: string) =>
    execFileSync('/bin/ps', ['-axo', columns], { encoding: 'utf8', timeout: 3000, maxBuffer: 16 * 1024 * 1024 })
  const rows = (text: string) =>
    text
      .split('\n')
      .slice(1)
      .map(line => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line))
      .filter(row => row !== null)
  const table = new Map<number, ProcessLink>()
  for (const [, pid, parent, comm] of rows(ps('pid,ppid,comm'))) {
    table.set(Number(pid), { pid: Number(pid), parent: Number(parent), name: baseName(comm!), argv: [], exe: comm! })
  }
  for (const [, pid, , args] of rows(ps('pid,ppid,args'))) {
    const link = table.get(Number(pid))
    if (link) link.argv = args!.trim().split(/\s+/)
  }
  return table
}

function orElse<T>(read: () => T, otherwise: T): T {
  try {
    return read()
  } catch {
    return otherwise
  }
}

const baseName = (path: string) => path.slice(path.lastIndexOf('/') + 1)
const plain = (name: string) =>
  baseName(name)
    .toLowerCase()
    .replace(/ \(deleted\)$/, '')
    .replace(/\.(exe|js|cjs|mjs|ts|py)$/, '')

/**
 * Judges a chain (its first link is the command itself). Refused when an agent is in it, by name, by where it lives, or by
 * a process id that a hook has seen (`seenAgentPids`), and when it does not reach something that a person types into.
 * A login shell is a shell whose first argument starts with `-`.
 *
 * What it cannot see: setsid with a fork, systemd-run, tmux or ssh to oneself take an agent out of the chain. It deters and
 * leaves a trace (the chain is recorded with the answer); it proves nothing.
 */
export function judgeChain(chain: Chain, seenAgentPids: ReadonlySet<number> = new Set()): ChainJudgement {
  if (!chain.readable) return { ok: true, anchor: 'not checked', program: chain.why }
  if (chain.links.length === 0)
    return { ok: false, code: 'gone', program: '', words: 'that process is no longer running' }
  for (const link of chain.links) {
    const program = nameOf(link)
    if (seenAgentPids.has(link.pid))
      return refuse(
        'seen_agent',
        program,
        `it was started by ${program} (process ${link.pid}), which runs an agent’s session`,
      )
    const agent = agentIn(link)
    if (agent) return refuse('agent', agent, `it was started by ${agent} (process ${link.pid}), which is an agent`)
  }
  for (const link of chain.links.slice(1)) {
    const anchor = anchorIn(link)
    if (anchor) return { ok: true, anchor, program: nameOf(link) }
  }
  return refuse(
    'no_terminal',
    nameOf(chain.links.at(-1)!),
    'it was not started from a login shell, an ssh session or a terminal window',
  )
}

const refuse = (code: 'agent' | 'seen_agent' | 'no_terminal', program: string, words: string): ChainJudgement => ({
  ok: false,
  code,
  program,
  words,
})

const nameOf = (link: ProcessLink) => baseName(link.exe ?? link.argv[0] ?? link.name).replace(/ \(deleted\)$/, '')

/** The agent's name when a process is one. A shell's `-c "claude"` is not looked at: the agent would be a link itself. */
function agentIn(link: ProcessLink): string | undefined {
  const own = [link.name, link.exe ?? '', link.argv[0] ?? ''].filter(Boolean)
  // an interpreter's own name says nothing: its script does, which follows after options (`node --flag cli.js`)
  const script = own.some(name => INTERPRETERS.includes(plain(name)))
    ? link.argv.slice(1).find(arg => !arg.startsWith('-'))
    : undefined
  const places = script === undefined ? own : [...own, script]
  const named = places.map(plain).find(name => AGENT_NAMES.includes(name.replace(/^-/, '')))
  if (named) return named
  const placed = places.map(place => AGENT_PATHS.exec(place)).find(match => match !== null)
  return placed ? placed[1] : undefined
}

function anchorIn(link: ProcessLink): 'login shell' | 'sign-in' | 'terminal' | undefined {
  const names = [link.name, link.exe ?? '', ...(link.argv[0] ? [link.argv[0].split(':')[0]!] : [])]
    .filter(Boolean)
    .map(plain)
  if (link.argv[0]?.startsWith('-') && SHELLS.includes(plain(link.exe ?? link.name))) return 'login shell'
  if (names.some(name => LOGINS.includes(name))) return 'sign-in'
  return names.some(name => TERMINALS.includes(name)) ? 'terminal' : undefined
}

/** The chain in the few words that go into the record: `holdpoint < bash < sshd`, names only, never arguments. */
export function describeChain(chain: Chain): string[] {
  return chain.readable ? chain.links.map(nameOf) : [`not checked: ${chain.why}`]
}

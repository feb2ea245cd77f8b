/** This machine's own files and programs. */

import { existsSync, lstatSync } from 'node:fs'
import { join } from 'node:path'
import { shellWord } from '#agent/clients/shell-line.ts'
import { readJson, remove, writeAtomic } from '#agent/home.ts'
import { readTeam } from '#agent/trust/team.ts'
import type { Check, Finding } from './finding.ts'

const NODE_LEAST = 20

export const checkNode: Check = ({ nodeVersion }) => {
  const major = Number(/^v?(\d+)\./.exec(nodeVersion)?.[1])
  if (major >= NODE_LEAST) return []
  return [
    {
      code: 'node_old',
      severity: 'off',
      what: `Node.js ${nodeVersion} runs this program; it wants ${NODE_LEAST} or newer.`,
      why: 'Hooks and the daemon may fail on what an older one does not know, and calls then run unjudged.',
      todo: `Install Node.js ${NODE_LEAST} or newer, then start the daemon anew.`,
    },
  ]
}

export const checkPrograms: Check = ({ home }) => {
  const missing = ['holdpoint.cjs', 'hook.cjs'].filter(name => !existsSync(join(home.bin, name)))
  if (missing.length === 0) return []
  return [
    {
      code: 'program_missing',
      severity: 'off',
      what: `${missing.join(' and ')} ${missing.length === 1 ? 'is' : 'are'} not in ${home.bin}.`,
      why: 'Hooks that are commands, and the start of the daemon by them, need it there.',
      todo: 'Get holdpoint.cjs from your organisation’s Machines page, then run `node holdpoint.cjs install`.',
    },
  ]
}

/** Files that open something to whoever reads them. */
export const checkModes: Check = ({ home }) => {
  if (process.getuid === undefined) return []
  const secret = [home.root, home.secret, home.tokens, home.daemon, home.machineKey, home.team]
  const open = secret.filter(path => {
    const stat = lstatSync(path, { throwIfNoEntry: false })
    return stat !== undefined && !stat.isSymbolicLink() && (stat.mode & 0o077) !== 0
  })
  const foreign = secret.filter(path => {
    const stat = lstatSync(path, { throwIfNoEntry: false })
    return stat !== undefined && stat.uid !== process.getuid?.()
  })
  const findings: Finding[] = []
  if (open.length > 0)
    findings.push({
      code: 'home_open',
      severity: 'off',
      what: `Others can open ${open.join(', ')}.`,
      why: 'Who reads the tokens there can send events and ask the daemon in your name; who writes there can change what holds you.',
      fix: `chmod go= ${open.map(shellWord).join(' ')}`,
    })
  if (foreign.length > 0)
    findings.push({
      code: 'home_foreign',
      severity: 'off',
      what: `${foreign.join(', ')} ${foreign.length === 1 ? 'belongs' : 'belong'} to another user.`,
      why: 'What another user owns is not read, so the daemon does without it.',
      fix: `sudo chown -R "$(id -un)" ${shellWord(home.root)}`,
    })
  return findings
}

export const checkDisk: Check = ({ home }) => {
  if (!existsSync(home.root)) return []
  const probe = join(home.root, 'doctor.probe')
  try {
    writeAtomic(home, probe, 'can this be written?\n')
    remove(probe)
    return []
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException
    const isFull = code === 'ENOSPC' || code === 'EDQUOT'
    return [
      {
        code: isFull ? 'disk_full' : 'home_read_only',
        severity: 'off',
        what: isFull ? `The disk of ${home.root} is full.` : `${home.root} cannot be written (${code}).`,
        why: 'Decisions cannot be recorded, answers cannot be used (a step answer is spent on disk first), and nothing is kept over a restart.',
        todo: isFull ? 'Free some space there.' : 'Make the folder writable for you, or mount its disk for writing.',
      },
    ]
  }
}

/** A join that was broken off, or whose parts were taken away. */
export const checkJoin: Check = ({ home }) => {
  const team = readTeam(home)
  if (team && readJson(home.machineKey) !== undefined && existsSync(home.roots)) return []
  if (!team && !existsSync(home.team))
    return [
      {
        code: 'not_joined',
        severity: 'note',
        what: 'This machine has joined no organisation.',
        why: 'Only your own rules hold here, and nothing leaves the machine.',
        todo: 'To join one, paste the line of its Machines page behind `holdpoint join`.',
      },
    ]
  return [
    {
      code: 'join_incomplete',
      severity: 'off',
      what: `What \`holdpoint join\` wrote is not whole: ${team ? 'the machine’s key or the pinned keys are missing' : `${home.team} cannot be read`}.`,
      why: 'The organisation’s rules cannot be checked, so they are not in force, and nothing can be asked or answered.',
      fix: 'holdpoint leave',
      todo: 'Then join again with a new line from an admin.',
    },
  ]
}

import { chmodSync, readFileSync, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import { shellWord } from '#agent/clients/shell-line.ts'
import { ensureDir, type Home, writeAtomic } from '#agent/home.ts'
import { hookPrograms, statusLineProgram } from '#agent/hook-programs.ts'
import type { Command } from './command.ts'
import { CommandFailure, EXIT } from './exit.ts'
import { joinTeam, printJoined, readLine } from './join.ts'
import { HOOK_SOURCE, STATUSLINE_SOURCE, VERSION } from './version.ts'

const NODE_LEAST = 20

export const install: Command = {
  name: 'install',
  summary: 'put this program into ~/.holdpoint/bin (what the download line runs)',
  options: {
    join: {
      type: 'string',
      value: 'LINE',
      help: 'join an organisation at once, with the line of its Machines page (-: from standard input)',
    },
    label: { type: 'string', value: 'NAME', help: 'with --join: how admins see this machine (default: its host name)' },
    backfill: {
      type: 'boolean',
      help: 'with --join: send the usage from before joining, too, as far as it is on record',
    },
    'trust-on-first-use': {
      type: 'boolean',
      help: 'with --join: accept a line without a root digest (the machine is marked)',
    },
  },
  about:
    'Copies this program to ~/.holdpoint/bin, writes the small program that agents start beside it, and says how to call it. ' +
    'Installing again replaces the programs and keeps everything else. Nothing outside ~/.holdpoint is changed: agents are wired by `holdpoint hooks install`.',
  examples: [
    ['node holdpoint.cjs install', 'install only'],
    ["node holdpoint.cjs install --join 'https://holdpoint.example.com/o/acme#e=…&r=…'", 'install and join'],
  ],
  async run({ flags, home, json, terminal }) {
    const alone = (['label', 'backfill', 'trust-on-first-use'] as const).find(name => flags[name] !== undefined)
    if (alone && flags.join === undefined)
      throw new CommandFailure(
        'usage',
        'usage',
        `\`--${alone}\` goes with \`--join\`.`,
        'See `holdpoint install --help`.',
      )
    const programs = installPrograms(home)
    const onPath = (process.env.PATH ?? '').split(delimiter).includes(home.bin)
    const joined =
      typeof flags.join === 'string'
        ? await joinTeam(home, flags.join === '-' ? await readLine() : flags.join, {
            firstUse: flags['trust-on-first-use'] === true,
            backfill: flags.backfill === true,
            ...(typeof flags.label === 'string' ? { label: flags.label } : {}),
          })
        : undefined
    if (json) {
      terminal.json({ version: VERSION, installed: programs, onPath, ...(joined ? { joined } : {}) })
      return EXIT.ok
    }
    terminal.line(`Installed holdpoint ${VERSION}:`)
    for (const program of programs) terminal.line(`  ${program}`)
    if (!onPath) for (const line of pathAdvice(home)) terminal.line(line)
    terminal.line()
    if (joined) printJoined(terminal, joined)
    else terminal.line('Next: `holdpoint join` with the line that the Machines page of your organisation shows.')
    return EXIT.ok
  },
}

/** How to call the command by its name. Shells' start files are the person's own: they are not written to. */
function pathAdvice(home: Home): string[] {
  if (process.platform === 'win32')
    return ['', 'To call it by its name, add this folder to your PATH:', `  ${home.bin}`]
  return [
    '',
    'To call it by its name, add this line to your shell’s start file (~/.profile, ~/.zshrc, …):',
    `  export PATH="${home.bin.replace(homedir(), '$HOME')}:$PATH"`,
    `Until then: ${join(home.bin, 'holdpoint')} …`,
  ]
}

/** Writes the programs and returns their paths. The running file is the source. @throws CommandFailure */
export function installPrograms(home: Home): string[] {
  if (Number(process.versions.node.split('.')[0]) < NODE_LEAST) {
    throw new CommandFailure(
      'missing',
      'node_too_old',
      `This is Node ${process.versions.node}; holdpoint needs Node ${NODE_LEAST} or newer.`,
      'Install a newer Node and run the line again.',
    )
  }
  const self = process.argv[1] === undefined ? undefined : realpathSync(process.argv[1])
  if (self === undefined || HOOK_SOURCE === undefined) {
    throw new CommandFailure(
      'failed',
      'not_a_build',
      'Only the built holdpoint.cjs can install itself.',
      'Build it with `node agent/build.mjs`.',
    )
  }
  ensureDir(home.bin)
  chmodSync(home.root, 0o700)
  const program = join(home.bin, 'holdpoint.cjs')
  if (self !== realpathOr(program)) writeAtomic(home, program, readFileSync(self), 0o755)
  const hooks = hookPrograms(home)
  for (const hook of hooks) writeAtomic(home, hook, HOOK_SOURCE, 0o755)
  const statusLine = statusLineProgram(home)
  if (STATUSLINE_SOURCE !== undefined) writeAtomic(home, statusLine, STATUSLINE_SOURCE, 0o755)
  const windows = process.platform === 'win32'
  const wrapper = join(home.bin, windows ? 'holdpoint.cmd' : 'holdpoint')
  writeAtomic(home, wrapper, windows ? windowsWrapper(home) : wrapperText(home), 0o755)
  return [wrapper, program, ...hooks, ...(STATUSLINE_SOURCE === undefined ? [] : [statusLine])]
}

/** The wrapper keeps the Node that installed it as a fallback: a shell without a version manager may find none. */
function wrapperText(home: Home): string {
  return [
    '#!/bin/sh',
    `: "\${HOLDPOINT_HOME:=${home.root.replace(/["$`\\]/g, '\\$&')}}"`,
    'export HOLDPOINT_HOME',
    `node=${shellWord(process.execPath)}`,
    '[ -x "$node" ] || node=node',
    `exec "$node" ${shellWord(join(home.bin, 'holdpoint.cjs'))} "$@"`,
    '',
  ].join('\n')
}

function windowsWrapper(home: Home): string {
  return [
    '@echo off',
    'setlocal',
    `if not defined HOLDPOINT_HOME set "HOLDPOINT_HOME=${home.root}"`,
    `"${process.execPath}" "%~dp0holdpoint.cjs" %*`,
    '',
  ].join('\r\n')
}

function realpathOr(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

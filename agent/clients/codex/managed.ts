/** Codex's requirements for every user: a block of our own at the end of a file that may hold an administrator's. Pure. */

import { ourWords } from '#agent/clients/command-hooks.ts'
import { HookEditError } from '#agent/clients/hook-editor.ts'
import { isObject } from '#agent/clients/json-lines.ts'
import { type ManagedEditor, type ManagedInstall, managedRequest } from '#agent/clients/managed.ts'
import { MANAGED_PROGRAM } from '#agent/hook/home-place.ts'
import { REQUIREMENTS, readToml } from './config.ts'
import { codexHooks } from './hooks-file.ts'

const BEGIN =
  '# holdpoint begin: written by `holdpoint hooks install --managed`; what stands outside these lines is left alone'
const END = '# holdpoint end'
const BLOCK = new RegExp(`\\n*^${BEGIN.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$[\\s\\S]*?^${END}$\\n?`, 'm')
const { events } = codexHooks.lists

function blockOf(request: ManagedInstall, withFeatures: boolean): string {
  const wanted = managedRequest(request)
  const hooks = events.map(event => {
    const entry = codexHooks.entryOf(event, wanted)
    return [
      `[[hooks.${event}]]`,
      `[[hooks.${event}.hooks]]`,
      'type = "command"',
      `command = ${JSON.stringify(entry.command)}`,
      `timeout = ${entry.timeout}`,
    ].join('\n')
  })
  return [
    BEGIN,
    // without it `--disable hooks` switches them off
    ...(withFeatures ? ['[features]', 'hooks = true', ''] : []),
    '[hooks]',
    `managed_dir = "${MANAGED_PROGRAM.replace(/\/[^/]*$/, '')}"`,
    ...hooks,
    END,
    '',
  ].join('\n')
}

export const codexManaged: ManagedEditor = {
  file: REQUIREMENTS,
  install(before, request) {
    const others = (before ?? '').replace(BLOCK, '\n').replace(/^\n+$/, '')
    const found = readToml(others)
    const refuse = (why: string): never => {
      throw new HookEditError(
        'wrong_shape',
        `${why}. Add this there by hand, or move yours away first:\n\n${blockOf(request, true)}`,
      )
    }
    if (!found) return refuse('the file is not valid TOML, and Codex does not start with it')
    if (found.hooks !== undefined) return refuse('the file has hooks of its own')
    const isOn = isObject(found.features) ? found.features.hooks : undefined
    if (found.features !== undefined && isOn !== true)
      return refuse('the file has a table [features] in which hooks = true does not stand')
    const text = `${others.trimEnd()}${others.trim() === '' ? '' : '\n\n'}${blockOf(request, isOn !== true)}`
    if (!readToml(text)) return refuse('the file cannot be added to')
    if (text === before) return { text, changes: [] }
    const was = before !== undefined && BLOCK.test(before)
    return { text, changes: [was ? 'updated the hooks of every user' : 'set the hooks for every user'] }
  },
  remove(before) {
    if (!BLOCK.test(before)) return { text: before, changes: [] }
    const left = before.replace(BLOCK, '\n').trimStart()
    return { text: left.trim() === '' ? undefined : left, changes: ['removed the hooks of every user'] }
  },
  find(text) {
    const config = readToml(text)
    const table = config && isObject(config.hooks) ? config.hooks : {}
    const lines = (event: string): unknown[] =>
      (Array.isArray(table[event]) ? (table[event] as unknown[]) : []).flatMap(group =>
        isObject(group) && Array.isArray(group.hooks) && [undefined, '', '*', '.*'].includes(group.matcher as string)
          ? group.hooks.map(hook => codexHooks.lineOf(isObject(hook) ? hook : {}))
          : [],
      )
    const ours = (event: string) => lines(event).flatMap(line => ourWords('codex', events, line) ?? [])
    const main = ours(events[0]!)
    if (main.length === 0 && events.every(event => ours(event).length === 0)) return undefined
    const isOn = config && isObject(config.features) && config.features.hooks === true
    const troubles = [
      ...(main.length > 0 ? [] : [`The ${events[0]} hook is missing there: no tool call is seen.`]),
      ...(isOn ? [] : ['[features] hooks = true is missing there, so `--disable hooks` switches them off.']),
    ]
    const programs = main.filter(word => word.startsWith('/'))
    return { whole: troubles.length === 0, troubles, coversLoopback: false, programs }
  },
}

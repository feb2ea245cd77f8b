/** Copilot CLI's policies for every user: a file of our own. Pure. */

import { ourWords } from '#agent/clients/command-hooks.ts'
import { HookEditError } from '#agent/clients/hook-editor.ts'
import { findOurs, planEntries } from '#agent/clients/hook-lists.ts'
import { type ManagedEditor, managedRequest } from '#agent/clients/managed.ts'
import { copilotHooks } from './hook-file.ts'

const { lists, lineOf } = copilotHooks

export const copilotManaged: ManagedEditor = {
  file: '/etc/github-copilot/policy.d/holdpoint.json',
  install(before, request) {
    if (before !== undefined && !copilotManaged.find(before))
      throw new HookEditError('wrong_shape', 'the file is there and is not ours; move it away first')
    const wanted = managedRequest(request)
    const { text } = planEntries(undefined, lists, event => copilotHooks.entryOf(event, wanted))
    if (text === before) return { text, changes: [] }
    return {
      text,
      changes: [before === undefined ? 'set the hooks for every user' : 'updated the hooks of every user'],
    }
  },
  remove: before =>
    copilotManaged.find(before)
      ? { text: undefined, changes: ['removed the hooks of every user'] }
      : { text: before, changes: [] },
  find(text) {
    let content: unknown
    try {
      content = JSON.parse(text)
    } catch {
      return undefined
    }
    const ours = findOurs(content, lists)
    if (ours.length === 0) return undefined
    const main = ours.find(({ event }) => event === lists.events[0])
    const words = main && ourWords('copilot', lists.events, lineOf(main.entry))
    const isOff = (content as { disableAllHooks?: unknown }).disableAllHooks === true
    const troubles = [
      ...(words ? [] : [`The ${lists.events[0]} hook is missing there: no tool call is seen.`]),
      ...(isOff ? ['disableAllHooks there switches them off.'] : []),
    ]
    const programs = (words ?? []).filter(word => word.startsWith('/'))
    return { whole: troubles.length === 0, troubles, coversLoopback: false, programs }
  },
}

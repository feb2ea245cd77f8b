import type { ReactNode } from 'react'

export type ToastTone = 'passed' | 'held' | 'neutral'
export type ToastMessage = { id: number; tone: ToastTone; title: string; description?: ReactNode }

let messages: readonly ToastMessage[] = []
let nextId = 1
const listeners = new Set<() => void>()

function publish(next: readonly ToastMessage[]) {
  messages = next
  for (const listener of listeners) listener()
}

/** Says what happened, at the foot of the page. Failures (`held`) stay until closed; the rest goes after some seconds. */
export function toast(title: string, more: { tone?: ToastTone; description?: ReactNode } = {}): number {
  const id = nextId++
  publish([...messages.slice(-2), { id, title, tone: more.tone ?? 'passed', description: more.description }])
  return id
}

export function dismissToast(id: number) {
  publish(messages.filter(message => message.id !== id))
}

export function subscribeToasts(listener: () => void) {
  listeners.add(listener)
  return () => {
    listeners.delete(listener)
  }
}

export const readToasts = () => messages

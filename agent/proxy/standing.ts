import type { Home } from '#agent/home.ts'
import type { Action } from '#core/boundary/shape.ts'
import { NO_ROUTING, type Routing } from '#core/routing.ts'
import { readProxy } from './place.ts'

/** What a rule about routes comes to here. `obeyed`: by the running proxy, for whoever is pointed at it. */
export function routesHere(home: Home, routing: Routing = NO_ROUTING): { binding: 'obeyed' | 'idle'; words: string } {
  const running = readProxy(home)
  if (routing.rules.length === 0) return { binding: 'idle', words: 'no routing is configured' }
  if (!running) return { binding: 'idle', words: 'the proxy is not running, so nothing is routed: `holdpoint proxy`' }
  if (routing.mode === 'observe')
    return { binding: 'idle', words: 'the proxy’s routes only observe (routing.mode), so there is nothing to hold' }
  const words = `obeyed by the proxy on port ${running.port}, for clients that are pointed at it; a held request goes on with its own model`
  return { binding: 'obeyed', words }
}

/** What a rule about calls comes to besides; undefined where the proxy has no part in it. */
export function stopsHere(home: Home, action: Action | undefined, routing: Routing = NO_ROUTING): string | undefined {
  if (!routing.hardStop || (action !== 'continue' && action !== 'spend') || !readProxy(home)) return undefined
  return 'also stops model requests at the proxy (routing.hard_stop), for clients that are pointed at it'
}

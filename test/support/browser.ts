import { requestActor } from '#server/auth/request-actor.ts'
import { env } from '#server/env.ts'

type Door = {
  POST(request: Request): Promise<Response>
  GET?(request: Request): Response | Promise<Response>
  HEAD?(): Response
}

/** A browser's cookie jar in front of the doors: what they set is sent back, as a browser would. */
export class Browser {
  readonly jar = new Map<string, string>()

  cookie(): string {
    return [...this.jar].map(([name, value]) => `${name}=${value}`).join('; ')
  }

  keep(response: Response): Response {
    for (const line of response.headers.getSetCookie()) {
      const [pair = '', ...attributes] = line.split(';').map(part => part.trim())
      const at = pair.indexOf('=')
      const gone = attributes.some(attribute => /^max-age=0$/i.test(attribute)) || at === pair.length - 1
      if (gone) this.jar.delete(pair.slice(0, at))
      else this.jar.set(pair.slice(0, at), pair.slice(at + 1))
    }
    return response
  }

  request(path: string, init: RequestInit = {}): Request {
    const headers = new Headers(init.headers)
    if (this.jar.size > 0) headers.set('cookie', this.cookie())
    return new Request(new URL(path, env().publicUrl), { ...init, headers, redirect: 'manual' })
  }

  /** Submits a form as a page of ours does. Gives where it leads, path and query. */
  async post(door: Door, fields: Record<string, string> = {}, headers: Record<string, string> = {}): Promise<string> {
    const response = await door.POST(
      this.request('/auth/x', {
        method: 'POST',
        body: new URLSearchParams(fields).toString(),
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          origin: new URL(env().publicUrl).origin,
          ...headers,
        },
      }),
    )
    this.keep(response)
    if (response.status !== 303) throw new Error(`expected 303, got ${response.status}: ${await response.text()}`)
    const to = new URL(response.headers.get('location')!)
    return `${to.pathname}${to.search}`
  }

  /** Who the jar stands for. */
  actor = () => requestActor(this.request('/'))
}

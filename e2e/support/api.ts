import { type APIRequestContext, type BrowserContext, expect } from '@playwright/test'

/** Somebody's browser, or its requests alone: they share the cookies. */
type Caller = BrowserContext | APIRequestContext

const requestsOf = (caller: Caller): APIRequestContext => ('request' in caller ? caller.request : caller)
const ADDRESS = `http://localhost:${process.env.E2E_PORT}`

/** Asks the API that the pages use, as whoever is signed in there. Dates stay text. */
export async function query<T>(caller: Caller, path: string, input: Record<string, unknown>): Promise<T> {
  const asked = encodeURIComponent(JSON.stringify({ json: input }))
  return answerOf<T>(path, await requestsOf(caller).get(`${ADDRESS}/api/trpc/${path}?input=${asked}`))
}

/** Changes something through the API that the pages use: to set a stage, never in the place of what a story is about. */
export async function change<T>(caller: Caller, path: string, input: Record<string, unknown>): Promise<T> {
  const sent = { data: { json: input }, headers: { origin: ADDRESS } }
  return answerOf<T>(path, await requestsOf(caller).post(`${ADDRESS}/api/trpc/${path}`, sent))
}

async function answerOf<T>(path: string, response: Awaited<ReturnType<APIRequestContext['get']>>): Promise<T> {
  const body = await response.text()
  expect(response.ok(), `${path} answered ${response.status()}: ${body}`).toBe(true)
  return (JSON.parse(body) as { result: { data: { json: T } } }).result.data.json
}

/** Publishes a text of boundaries over whatever is in force. */
export async function publishRules(caller: Caller, org: string, text: string, note: string): Promise<void> {
  const { etag } = await query<{ etag: string }>(caller, 'boundary.current', { org })
  await change(caller, 'boundary.publish', { org, text, note, etag })
}

/** Session files that the real Codex wrote, made anonymous, beside what the scripted model server gave out. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { partsOf } from '#agent/clients/codex/rollout.ts'

export type Recorded = {
  served: {
    id: string
    model: string
    usage: Record<'input' | 'output' | 'cache_read' | 'cache_5m' | 'cache_1h' | 'reasoning', number>
  }[]
  /** By path below the client's home. */
  files: Record<string, object[]>
}

const PAYLOADS = join(import.meta.dirname, '../../clients/payloads/codex')

export function recordedRollouts(name: string): Recorded {
  const { served, files }: Recorded = JSON.parse(readFileSync(join(PAYLOADS, `rollout.${name}.json`), 'utf8'))
  const placed = Object.entries(files).map(([path, lines]) => {
    const [folder, file = ''] = path.split('/')
    const day = folder === 'sessions' ? `${partsOf(file)?.day.join('/')}/` : ''
    return [`${folder}/${day}${file}`, lines]
  })
  return { served, files: Object.fromEntries(placed) }
}

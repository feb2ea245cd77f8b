// Whether the Holdpoint of this data folder runs already: a start names itself in its folder, by the port it serves.
import fs from 'node:fs'
import path from 'node:path'
import { publicUrl, wantedPort } from './environment.mjs'
import { isMarkAlive, ownMark } from './process-mark.mjs'

const fileOf = data => path.join(data, `running-${wantedPort()}`)

/**
 * The start that serves the wanted port from this data folder; undefined when there is none, or it died.
 * @param {string} data
 * @returns {{ url: string, pid: number } | undefined}
 */
export function findRunning(data) {
  try {
    const { mark, url } = JSON.parse(fs.readFileSync(fileOf(data), 'utf8'))
    return isMarkAlive(mark) ? { url, pid: Number.parseInt(mark, 10) } : undefined
  } catch {
    return undefined
  }
}

/**
 * Names this start as the one that serves the wanted port.
 * @param {string} data
 * @returns {() => void} takes the name away again
 */
export function nameRunning(data) {
  const file = fileOf(data)
  const text = JSON.stringify({ mark: ownMark(), url: publicUrl() })
  fs.writeFileSync(file, text)
  return () => {
    try {
      if (fs.readFileSync(file, 'utf8') === text) fs.rmSync(file)
    } catch {
      // gone already, with its folder
    }
  }
}

// The server's process and its readiness.
import net from 'node:net'
import path from 'node:path'
import readline from 'node:readline'
import { pathToFileURL } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { startChild } from './child.mjs'
import { loopbackTwin, root, wantedHost, wantedPort } from './environment.mjs'
import { findRunning } from './running.mjs'

/** It names an address that is not the one to use. */
const BANNER = /^(\s*$|▲ Next\.js|- (Local|Network):|✓ (Ready|Running next\.config))/

const ENDED = 'the server ended before it answered; its words are above'

/** The server of a launcher that was killed needs a moment to notice. */
const PORT_WAIT_MS = 2500

/**
 * Waits for the wanted port, a moment at most. Throws, in words for the person at the keyboard, when somebody else has it.
 * @param {string} data
 * @returns {Promise<{ url: string, pid: number } | undefined>} the Holdpoint of this very data folder, when it has the port
 */
export async function findPort(data) {
  const port = wantedPort()
  for (const until = Date.now() + PORT_WAIT_MS; ; await pause(100)) {
    const error = await listenFailure(port, wantedHost())
    if (error && error.code !== 'EADDRINUSE')
      throw new Error(`Cannot listen on ${wantedHost()}:${port}: ${error.message}`)
    const twin = loopbackTwin(wantedHost())
    const isTwinTaken = !error && twin !== undefined && (await listenFailure(port, twin))?.code === 'EADDRINUSE'
    if (!error && !isTwinTaken) return undefined
    const running = findRunning(data)
    if (running) return running
    if (Date.now() > until) {
      const isOurs = !isTwinTaken && (await isHoldpoint(port))
      const whose = isOurs
        ? 'a Holdpoint with another data folder'
        : `another program${isTwinTaken ? ` (${twin})` : ''}`
      throw new Error(`Port ${port} is in use by ${whose}. Choose another: PORT=${port + 1} npm start`)
    }
  }
}

/** By the answer of its health check, which is the same for everybody. */
async function isHoldpoint(port) {
  try {
    const answer = await fetch(`http://${reachable()}:${port}/healthz`, {
      redirect: 'manual',
      signal: AbortSignal.timeout(PORT_WAIT_MS),
    })
    const said = await answer.json()
    return typeof said.ok === 'boolean' && Object.keys(said).length === 1
  } catch {
    return false
  }
}

/** The wanted host as this machine reaches it. */
const reachable = () => (wantedHost() === '0.0.0.0' ? '127.0.0.1' : wantedHost())

function listenFailure(port, host) {
  return new Promise(resolve => {
    const server = net.createServer()
    server.once('error', resolve)
    server.listen(port, host, () => server.close(() => resolve(undefined)))
  })
}

/**
 * Starts a server process that ends with this one, however this one ends.
 * @param {string[]} args of Node
 * @param {Record<string, string | undefined>} env
 * @param {{ banner?: boolean }} [options] `banner: false` leaves out what Next says of itself before it serves
 */
export function startServer(args, env, { banner = true } = {}) {
  const guard = pathToFileURL(path.join(root, 'server/boot/with-launcher.mjs')).href
  const stdio = ['ignore', banner ? 'inherit' : 'pipe', 'inherit', 'ipc']
  const server = startChild(process.execPath, ['--import', guard, ...args], {
    cwd: root,
    env: { ...env, HOLDPOINT_LAUNCHER: String(process.pid) },
    stdio,
  })
  if (server.stdout)
    readline
      .createInterface(server.stdout)
      .on('line', line => BANNER.test(stripVTControlCharacters(line)) || console.log(line))
  return server
}

/**
 * Resolves when the server has the wanted port. Another program may have taken it since it was looked at, and would answer
 * there too: so the server says for itself that it listens.
 * @param {import('node:child_process').ChildProcess} server
 * @param {{ tells?: boolean }} [options] `tells: false`: Next's development server listens in a process of its own, which
 * cannot say so; then whoever answers at the port is taken for it
 */
export async function answering(server, { tells = true } = {}) {
  if (tells) {
    await new Promise((resolve, reject) => {
      server.on('message', said => said?.holdpoint === 'listening' && resolve(undefined))
      const end = () => reject(new Error(ENDED))
      if (server.exitCode !== null || server.signalCode !== null) end()
      server.once('exit', end)
    })
    return
  }
  const host = reachable()
  while (server.exitCode === null && server.signalCode === null) {
    if (await connects(wantedPort(), host)) return
    await pause(25)
  }
  throw new Error(ENDED)
}

function connects(port, host) {
  return new Promise(resolve => {
    const socket = net.connect(port, host, () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}

const pause = ms => new Promise(resolve => setTimeout(resolve, ms))

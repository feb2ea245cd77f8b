// The server's process and its readiness.
import net from 'node:net'
import path from 'node:path'
import readline from 'node:readline'
import { pathToFileURL } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { startChild } from './child.mjs'
import { root, wantedHost, wantedPort } from './environment.mjs'

/** It names an address that is not the one to use. */
const BANNER = /^(\s*$|▲ Next\.js|- (Local|Network):|✓ (Ready|Running next\.config))/

/** The server of a launcher that was killed needs a moment to notice. */
const PORT_WAIT_MS = 2500

/** Throws, in words for the person at the keyboard, when the wanted port is not free. */
export async function assertPortFree() {
  const port = wantedPort()
  for (const until = Date.now() + PORT_WAIT_MS; ; await pause(100)) {
    const error = await listenFailure(port)
    if (!error) return
    if (error.code !== 'EADDRINUSE') throw new Error(`Cannot listen on ${wantedHost()}:${port}: ${error.message}`)
    if (Date.now() > until) {
      throw new Error(`Port ${port} is in use by another program. Choose another: PORT=${port + 1} npm start`)
    }
  }
}

function listenFailure(port) {
  return new Promise(resolve => {
    const server = net.createServer()
    server.once('error', resolve)
    server.listen(port, wantedHost(), () => server.close(() => resolve(undefined)))
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
 * Resolves when the port answers.
 * @param {import('node:child_process').ChildProcess} server
 */
export async function answering(server) {
  const host = wantedHost() === '0.0.0.0' ? '127.0.0.1' : wantedHost()
  while (server.exitCode === null && server.signalCode === null) {
    if (await connects(wantedPort(), host)) return
    await pause(25)
  }
  throw new Error('the server ended before it answered; its words are above')
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

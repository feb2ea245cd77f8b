// Loaded into the server's process before the server: a launcher that was killed must not leave it behind, and is told when
// this process, and not another one, has the wanted port.
import net from 'node:net'
import { loopbackTwin, wantedPort } from './environment.mjs'

const GRACE_MS = 2000
const { listen } = net.Server.prototype

// The server's own children are started with the same flags, and have no launcher.
if (Number(process.env.HOLDPOINT_LAUNCHER) === process.ppid) {
  process.on('disconnect', () => {
    setTimeout(() => process.exit(1), GRACE_MS).unref()
    process.kill(process.pid, 'SIGTERM')
  })
  process.channel?.unref()
  net.Server.prototype.listen = function (...args) {
    this.once('listening', () => {
      if (this.address()?.port === wantedPort()) holdTwin(this)
    })
    return listen.apply(this, args)
  }
}

/**
 * `localhost` is two addresses, and a browser takes whichever answers: who listens on only one leaves the other to any user of
 * the machine, who would get what was meant for us, the owner's one-time sign-in first.
 */
function holdTwin(server) {
  const { address, port } = server.address()
  const host = loopbackTwin(address)
  const tell = () => process.connected && process.send({ holdpoint: 'listening' })
  if (!host) return tell()
  const twin = net.createServer({ noDelay: true }, socket => server.emit('connection', socket))
  twin.on('error', error => {
    if (error.code !== 'EADDRINUSE') return tell() // a machine without that kind of address
    console.error(`Cannot listen on [${host}]:${port}: another program is there, and localhost is that address too.`)
    process.exit(1)
  })
  server.once('close', () => twin.close())
  listen.call(twin, { port, host, exclusive: true }, tell)
  twin.unref()
}

// Loaded into the server's process before the server: a launcher that was killed must not leave it behind.
const GRACE_MS = 2000

// The server's own children are started with the same flags, and have no launcher.
if (Number(process.env.HOLDPOINT_LAUNCHER) === process.ppid) {
  process.on('disconnect', () => {
    setTimeout(() => process.exit(1), GRACE_MS).unref()
    process.kill(process.pid, 'SIGTERM')
  })
  process.channel?.unref()
}

// The bare tiny process of its kind: reads standard input, asks the daemon's socket once, and ends as a command hook does.
const { readFileSync } = require('node:fs')
const body = readFileSync(0)
const [path, client = 'claude-code'] = process.argv.slice(2)
const chunks = []
const socket = require('node:net').connect(path)
socket.on('data', chunk => chunks.push(chunk))
socket.on('end', () => {
  const text = Buffer.concat(chunks).toString()
  const { exit, stdout, stderr } = JSON.parse(text.slice(text.indexOf('\r\n\r\n')))
  if (stdout) process.stdout.write(stdout)
  if (stderr) process.stderr.write(stderr)
  process.exitCode = exit
})
const head = 'HTTP/1.0\r\nHost: holdpoint\r\nX-Holdpoint-Form: command\r\nContent-Type: application/json'
socket.write(`POST /hook/${client} ${head}\r\nContent-Length: ${body.length}\r\n\r\n`)
socket.write(body)

// The bare tiny process of its kind: reads standard input, asks the daemon's door once, and ends as a command hook does.
const http = require('node:http')
const [port, token] = process.argv.slice(2)
const chunks = []
process.stdin.on('data', chunk => chunks.push(chunk))
process.stdin.on('end', () => {
  const body = Buffer.concat(chunks)
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'content-length': body.length,
  }
  const options = { host: '127.0.0.1', port, method: 'POST', path: '/hook/claude-code', headers, agent: false }
  http
    .request(options, response => {
      response.on('data', part => process.stdout.write(part))
      response.on('end', () => {
        process.exitCode = response.statusCode === 200 ? 0 : 1
      })
    })
    .end(body)
})

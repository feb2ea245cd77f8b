// The floor that the proxy is measured beside: a bare pass-through in Node that looks at nothing.
const http = require('node:http')
const upstream = new URL(process.argv[2])
const agent = new http.Agent({ keepAlive: true, maxFreeSockets: 256 })
const server = http.createServer((request, response) => {
  const { method, url, headers } = request
  const up = http.request(
    {
      host: upstream.hostname,
      port: upstream.port,
      path: url,
      method,
      agent,
      headers: { ...headers, host: upstream.host },
    },
    answer => {
      response.writeHead(answer.statusCode, answer.headers)
      answer.pipe(response)
    },
  )
  up.on('error', () => response.destroy())
  request.pipe(up)
})
server.listen(0, '127.0.0.1', () => console.log(server.address().port))

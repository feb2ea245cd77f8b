// A model server that answers every POST with the same event stream, as fast as it is taken. `GET /small` has one event.
const http = require('node:http')
const start = `event: message_start\ndata: ${JSON.stringify({ type: 'message_start', message: { id: 'msg_bench', type: 'message', role: 'assistant', model: 'claude-opus-4-6', content: [], usage: { input_tokens: 100, output_tokens: 1 } } })}\n\n`
const delta = `event: content_block_delta\ndata: ${JSON.stringify({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'and so it goes on and on' } })}\n\n`
const end = `event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":500}}\n\nevent: message_stop\ndata: {"type":"message_stop"}\n\n`
// pieces as a provider flushes them: a few events each
const piece = Buffer.from(delta.repeat(8))
const PIECES = 256
const server = http.createServer((request, response) => {
  request.resume()
  request.on('end', () => {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'request-id': 'req_bench' })
    response.write(start)
    if (request.url.endsWith('small')) return response.end(end)
    let sent = 0
    const push = () => {
      while (sent < PIECES) {
        sent++
        if (!response.write(piece)) return response.once('drain', push)
      }
      response.end(end)
    }
    push()
  })
})
server.listen(0, '127.0.0.1', () => console.log(server.address().port))

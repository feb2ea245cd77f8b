// The least that can answer an http hook, in a process of its own as a daemon is: reads the event, says nothing.
// GET answers how many events have come.
const http = require('node:http')

let events = 0
const server = http.createServer((request, response) => {
  request.resume().on('end', () => {
    if (request.method === 'POST') events++
    response.end(request.method === 'POST' ? '' : String(events))
  })
})
server.listen(0, '127.0.0.1', () => console.log(server.address().port))

// Peer of the reads: a bare node:http server that answers a constant. Run by others: node peers.ts SIZE PORT

import { createServer } from 'node:http'

if (import.meta.main) {
  const body = Buffer.alloc(Number(process.argv[2]), 'x')
  const text = body.length > 65_536 ? body : body.toString()
  const server = createServer((_, response) => {
    response.writeHead(200, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': body.length,
    })
    response.end(text)
  })
  server.listen(Number(process.argv[3]), '127.0.0.1')
}

// Smallest possible download: one file, piped to each client. Run by others: node plain-server.ts PORT FILE

import { createReadStream, statSync } from 'node:fs'
import { createServer } from 'node:http'

const [port = '', path = ''] = process.argv.slice(2)

createServer((req, res) => {
  if (req.url === '/') return res.end() // polled until the server answers
  res.writeHead(200, { 'content-length': statSync(path).size })
  createReadStream(path, { highWaterMark: 256 * 1024 }).pipe(res)
}).listen(Number(port), '127.0.0.1')

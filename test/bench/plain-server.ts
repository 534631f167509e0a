// The least that an upload and a download can be, to compare with: nothing is checked, parsed or waited for in order.
// Run by documents.ts as a process of its own: node test/bench/plain-server.ts FILE

import { createHash } from 'node:crypto'
import { createReadStream, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import { pipeline } from 'node:stream/promises'

const [path = ''] = process.argv.slice(2)
const CONTENT = '"base64":"'

/** The base64 of the one document, decoded, hashed, written and flushed. */
async function take(req: IncomingMessage): Promise<string> {
  const file = await open(path, 'w')
  const hash = createHash('sha256')
  let rest: string | undefined
  for await (const piece of req as AsyncIterable<Buffer>) {
    const text = piece.toString('latin1')
    const chunk = rest === undefined ? text.slice(text.indexOf(CONTENT) + CONTENT.length) : rest + text
    const whole = chunk.length - (chunk.length % 4)
    rest = chunk.slice(whole)
    const bytes = Buffer.from(chunk.slice(0, whole), 'base64')
    hash.update(bytes)
    await file.write(bytes)
  }
  await file.sync()
  await file.close()
  return hash.digest('hex')
}

const server = createServer(async (req, res) => {
  if (req.method === 'POST') return res.end(await take(req))
  res.writeHead(200, { 'content-length': statSync(path).size })
  await pipeline(createReadStream(path, { highWaterMark: 256 * 1024 }), res).catch(() => {}) // a client may be gone
})

server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  process.stderr.write(`url=http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}\n`)
})

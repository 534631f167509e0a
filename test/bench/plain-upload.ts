// Smallest possible upload: decodes, hashes and writes the base64 of one block in memory repeatedly, and flushes the
// file. Without checks, parsing or waits. `raw` bytes are not decoded. Prints the duration. Run by others: node
// plain-upload.ts FILE BYTES [raw]

import { createHash, randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs'

const [path = '', bytes = '0', form] = process.argv.slice(2)
const BLOCK = 3 * 1024 * 1024
const PIECE = 256 * 1024
const content = randomBytes(BLOCK)
const text = Buffer.from(form === 'raw' ? content : content.toString('base64'))

const started = performance.now()
const file = openSync(path, 'wx')
const hash = createHash('sha256')
for (let sentBytes = 0; sentBytes < Number(bytes); sentBytes += BLOCK) {
  for (let at = 0; at < text.length; at += PIECE) {
    const piece = text.subarray(at, at + PIECE)
    const decoded = form === 'raw' ? piece : Buffer.from(piece.toString('latin1'), 'base64')
    hash.update(decoded)
    writeSync(file, decoded)
  }
}
hash.digest()
fsyncSync(file)
closeSync(file)
process.stdout.write(String(performance.now() - started))

// The least that an upload can be: the base64 of a block that is in memory already is decoded, hashed and written
// again and again, and the file flushed. Nothing is checked, parsed or waited for. Prints how long it took.
// Run by others: node plain-upload.ts FILE BYTES

import { createHash, randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs'

const [path = '', bytes = '0'] = process.argv.slice(2)
const BLOCK = 3 * 1024 * 1024
const PIECE = 256 * 1024
const text = Buffer.from(randomBytes(BLOCK).toString('base64'))

const started = performance.now()
const file = openSync(path, 'wx')
const hash = createHash('sha256')
for (let sent = 0; sent < Number(bytes); sent += BLOCK) {
  for (let at = 0; at < text.length; at += PIECE) {
    const decoded = Buffer.from(text.toString('latin1', at, at + PIECE), 'base64')
    hash.update(decoded)
    writeSync(file, decoded)
  }
}
hash.digest()
fsyncSync(file)
closeSync(file)
process.stdout.write(String(performance.now() - started))

// A ZIP archive of one file, with sizes and checksum before the data: readers of streams need them there. Equal data are
// equal bytes, so the time is always that of MS-DOS's first day.

import { once } from 'node:events'
import { crc32, createDeflateRaw } from 'node:zlib'

const LOCAL_HEADER = 0x04034b50
const CENTRAL_HEADER = 0x02014b50
const END_OF_DIRECTORY = 0x06054b50
const VERSION = 20 // format version 2.0, which has deflate
const DEFLATED = 8
const FIRST_DAY = 0x0021 // 1980-01-01

/** Compresses the parts as the only file of an archive. */
export async function zipFile(name: string, parts: AsyncIterable<string>): Promise<Buffer> {
  const deflate = createDeflateRaw()
  const blocks: Buffer[] = []
  deflate.on('data', (block: Buffer) => blocks.push(block))
  let [checksum, size] = [0, 0]
  for await (const part of parts) {
    const bytes = Buffer.from(part)
    checksum = crc32(bytes, checksum)
    size += bytes.length
    if (!deflate.write(bytes)) await once(deflate, 'drain')
  }
  deflate.end()
  await once(deflate, 'end')
  const packed = blocks.reduce((sum, { length }) => sum + length, 0)
  const fileName = Buffer.from(name)
  const shared = Buffer.alloc(26) // the same in both headers
  shared.writeUInt16LE(VERSION, 0)
  shared.writeUInt16LE(DEFLATED, 4)
  shared.writeUInt16LE(FIRST_DAY, 8)
  shared.writeUInt32LE(checksum, 10)
  shared.writeUInt32LE(packed, 14)
  shared.writeUInt32LE(size, 18)
  shared.writeUInt16LE(fileName.length, 22)
  const local = Buffer.concat([signature(LOCAL_HEADER), shared, fileName])
  const central = Buffer.concat([
    ...[signature(CENTRAL_HEADER), Buffer.of(VERSION, 0), shared],
    ...[Buffer.alloc(14), fileName], // no comment, no attributes, and the local header at the beginning
  ])
  const end = Buffer.alloc(18)
  end.writeUInt16LE(1, 4)
  end.writeUInt16LE(1, 6)
  end.writeUInt32LE(central.length, 8)
  end.writeUInt32LE(local.length + packed, 12)
  return Buffer.concat([local, ...blocks, central, signature(END_OF_DIRECTORY), end])
}

function signature(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

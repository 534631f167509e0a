// Encodes texts as a ZIP archive, the container of a workbook. Entries have the format's earliest time, so that equal
// content gives equal bytes.

export type ZipEntry = { name: string; text: string }

/** Fields of a record: numbers of two bytes, and of four bytes in brackets. */
type Fields = readonly (number | readonly [number])[]

const STAMP = 0x0021_0000 // 1980-01-01 00:00
const VERSION = 20
const UTF8_NAMES = 0x0800
const DEFLATED = 8

export async function encodeZip(entries: readonly ZipEntry[]): Promise<Blob> {
  const parts: Uint8Array<ArrayBuffer>[] = []
  const directory: Uint8Array<ArrayBuffer>[] = []
  let offset = 0
  for (const { name, text } of entries) {
    const [path, bytes] = [new TextEncoder().encode(name), new TextEncoder().encode(text)]
    const packed = await deflate(bytes)
    const attributes: Fields = [
      UTF8_NAMES,
      DEFLATED,
      [STAMP],
      [crc32(bytes)],
      [packed.length],
      [bytes.length],
      path.length,
      0,
    ]
    const head = concatBytes(encodeFields([[0x04034b50], VERSION, ...attributes]), path, packed)
    const entry = encodeFields([[0x02014b50], VERSION, VERSION, ...attributes, 0, 0, 0, [0], [offset]])
    directory.push(concatBytes(entry, path))
    parts.push(head)
    offset += head.length
  }
  const size = directory.reduce((sum, { length }) => sum + length, 0)
  const end = encodeFields([[0x06054b50], 0, 0, entries.length, entries.length, [size], [offset], 0])
  return new Blob([...parts, ...directory, end])
}

/** Encodes the fields in little-endian order. */
function encodeFields(fields: Fields): Uint8Array<ArrayBuffer> {
  const size = fields.reduce<number>((sum, field) => sum + fieldSize(field), 0)
  const bytes = new DataView(new ArrayBuffer(size))
  let offset = 0
  for (const field of fields) {
    if (typeof field === 'number') bytes.setUint16(offset, field, true)
    else bytes.setUint32(offset, field[0], true)
    offset += fieldSize(field)
  }
  return new Uint8Array(bytes.buffer)
}

function fieldSize(field: Fields[number]): number {
  return typeof field === 'number' ? 2 : 4
}

function concatBytes(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let offset = 0
  for (const part of parts) {
    bytes.set(part, offset)
    offset += part.length
  }
  return bytes
}

async function deflate(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream('deflate-raw'))
  return new Uint8Array(await new Response(stream).arrayBuffer())
}

function crc32(bytes: Uint8Array): number {
  let crc = -1
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  return ~crc >>> 0
}

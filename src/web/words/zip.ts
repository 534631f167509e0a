// A ZIP archive of a few texts, as a workbook is one. Times are the earliest that the format knows, so that the same
// content makes the same bytes.

export type Entry = { name: string; text: string }

/** Numbers of two bytes, those in brackets of four. */
type Numbers = readonly (number | readonly [number])[]

const STAMP = 0x0021_0000 // 1980-01-01 00:00
const VERSION = 20
const UTF8_NAMES = 0x0800
const DEFLATED = 8

export async function zipOf(entries: readonly Entry[]): Promise<Blob> {
  const parts: Uint8Array<ArrayBuffer>[] = []
  const directory: Uint8Array<ArrayBuffer>[] = []
  let offset = 0
  for (const { name, text } of entries) {
    const [path, bytes] = [new TextEncoder().encode(name), new TextEncoder().encode(text)]
    const packed = await deflated(bytes)
    const about: Numbers = [
      UTF8_NAMES,
      DEFLATED,
      [STAMP],
      [crcOf(bytes)],
      [packed.length],
      [bytes.length],
      path.length,
      0,
    ]
    const head = joined(record([[0x04034b50], VERSION, ...about]), path, packed)
    directory.push(joined(record([[0x02014b50], VERSION, VERSION, ...about, 0, 0, 0, [0], [offset]]), path))
    parts.push(head)
    offset += head.length
  }
  const size = directory.reduce((sum, one) => sum + one.length, 0)
  const end = record([[0x06054b50], 0, 0, entries.length, entries.length, [size], [offset], 0])
  return new Blob([...parts, ...directory, end])
}

/** The numbers, the least byte first. */
function record(numbers: Numbers): Uint8Array<ArrayBuffer> {
  const bytes = new DataView(new ArrayBuffer(numbers.reduce<number>((sum, one) => sum + sizeOf(one), 0)))
  let at = 0
  for (const one of numbers) {
    if (typeof one === 'number') bytes.setUint16(at, one, true)
    else bytes.setUint32(at, one[0], true)
    at += sizeOf(one)
  }
  return new Uint8Array(bytes.buffer)
}

function sizeOf(one: Numbers[number]): number {
  return typeof one === 'number' ? 2 : 4
}

function joined(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((sum, one) => sum + one.length, 0))
  let at = 0
  for (const one of parts) {
    all.set(one, at)
    at += one.length
  }
  return all
}

async function deflated(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream('deflate-raw'))
  return new Uint8Array(await new Response(stream).arrayBuffer())
}

function crcOf(bytes: Uint8Array): number {
  let crc = -1
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  return ~crc >>> 0
}

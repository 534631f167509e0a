// Generates long texts while they are sent. Memory never has a whole table of thousands of lines, and other clients are
// not delayed.

import { pipeline, Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import type { Interleave } from '../../../runtime/interleave.ts'
import type { Chunks } from '../../../store/blobs/chunks.ts'

const PART_LENGTH = 32 * 1024 // characters, in a millisecond or two
const GZIP = { windowBits: 14, memLevel: 7, chunkSize: 16 * 1024 } // takes 128 kB, half of the default

/** Text in parts, each generated when it is pulled. */
export type TextParts = Iterator<string, void>

/** Joins pieces of text to parts of at least 32 Ki characters. */
export function* textParts(pieces: Iterable<string>): Generator<string, void> {
  let text = ''
  for (const piece of pieces) {
    text += piece
    if (text.length < PART_LENGTH) continue
    yield text
    text = ''
  }
  if (text !== '') yield text
}

/** Returns the text if it has at most one part, else all parts. */
export function wholeOrParts(parts: TextParts): string | Iterable<string> {
  const first = parts.next()
  if (first.done) return ''
  const second = parts.next()
  return second.done ? first.value : chain([first.value, second.value], parts)
}

/** Encodes parts as UTF-8, and compresses them if `gzip` is set. The parts of several answers are interleaved. */
export function encodeChunks(
  parts: Iterable<string>,
  interleave: Interleave,
  { gzip }: { gzip: boolean },
): Chunks {
  const chunks = encodeUtf8(interleave(parts))
  return gzip ? gzipChunks(chunks) : chunks
}

function* chain(begin: readonly string[], rest: TextParts): Generator<string, void> {
  yield* begin
  for (let next = rest.next(); !next.done; next = rest.next()) yield next.value
}

async function* encodeUtf8(parts: AsyncIterable<string>): Chunks {
  for await (const part of parts) yield Buffer.from(part)
}

async function* gzipChunks(chunks: Chunks): Chunks {
  const gzip = createGzip(GZIP)
  // Errors end the loop. When the client disconnects, the loop ends and the pipeline closes the chunks.
  pipeline(Readable.from(chunks, { objectMode: false, highWaterMark: 1 }), gzip, () => {})
  yield* gzip
}

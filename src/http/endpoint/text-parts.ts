// Text that is made while it is sent: a table of thousands of lines is never in memory as a whole, and no other client waits
// until all of it is made.

import { pipeline, Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import type { Chunks } from '../../store/blobs/chunks.ts'
import type { Turns } from '../../turns.ts'

const PART_LENGTH = 32 * 1024 // characters, in a millisecond or two
const GZIP = { windowBits: 14, memLevel: 7, chunkSize: 16 * 1024 } // takes 128 kB, half of what is usual

/** Text, each part of which is made when it is asked for. */
export type TextParts = Iterator<string, void>

/** Pieces of text as parts of some length. */
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

/** The text, if it is of one part or none; else all of its parts. */
export function wholeOrParts(parts: TextParts): string | Iterable<string> {
  const first = parts.next()
  if (first.done) return ''
  const second = parts.next()
  return second.done ? first.value : chain([first.value, second.value], parts)
}

/** What is sent of the parts; with `packed` as gzip. Other parts are made between two of them. */
export function chunksOf(parts: Iterable<string>, inTurns: Turns, { packed }: { packed: boolean }): Chunks {
  const chunks = encoded(inTurns(parts))
  return packed ? gzipped(chunks) : chunks
}

function* chain(begin: readonly string[], rest: TextParts): Generator<string, void> {
  yield* begin
  for (let next = rest.next(); !next.done; next = rest.next()) yield next.value
}

async function* encoded(parts: AsyncIterable<string>): Chunks {
  for await (const part of parts) yield Buffer.from(part)
}

async function* gzipped(chunks: Chunks): Chunks {
  const gzip = createGzip(GZIP)
  // What goes wrong ends the loop; when the loop is left, because the client has gone, the pipeline ends the chunks.
  pipeline(Readable.from(chunks, { objectMode: false, highWaterMark: 1 }), gzip, () => {})
  yield* gzip
}

// Time limits for the body of an answer: those of the bucket's client end with its head.

import type { Readable } from 'node:stream'

/** Reads a whole answer. @throws TimeoutError if the bucket goes silent for `ms` in between */
export async function collectBody(stream: Readable, ms: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  const reading = stream[Symbol.asyncIterator]()
  while (true) {
    const next = await readInTime(reading.next(), stream, ms)
    if (next.done) return Buffer.concat(chunks)
    chunks.push(next.value)
  }
}

/** Awaits a read, and destroys the stream after `ms`. The time of a slow client does not count. */
export async function readInTime<T>(awaited: Promise<T>, stream: Readable, ms: number): Promise<T> {
  const silence = Object.assign(new Error('the bucket went silent'), { name: 'TimeoutError' }) // so it is retried
  const timer = setTimeout(() => stream.destroy(silence), ms)
  try {
    return await awaited
  } finally {
    clearTimeout(timer)
  }
}

// Reads the body of an upload in flat memory: the base64 of each document goes, decoded, to a blob as it arrives,
// and the rest is collected as it was sent. Whether it makes an acceptable request is not decided here: a document
// with bad content is marked and reading goes on, because the answer names every bad one (decisions 3.1 and 3.5).

import type { Upload } from '../domain/upload.ts'
import type { BlobWriter } from '../store/blob-writer.ts'
import { notJson } from './json-error.ts'
import { createJsonScanner } from './json-scanner.ts'
import { createUtf8Check } from './json-utf8.ts'
import { createUploadListener } from './upload-listener.ts'

/**
 * Reads the whole body. The blobs of the answer are the caller's to commit or discard; if it throws, they are gone.
 * Throws AppError 'bad-request' for what is not JSON or over a limit, and whatever body or blobs throw. The body is
 * then left where it is, neither drained nor destroyed, so that the request can still be answered; who wants to drain
 * it iterates over it again.
 */
export async function readUpload(
  body: AsyncIterable<Uint8Array>,
  beginBlob: () => Promise<BlobWriter>,
): Promise<Upload> {
  const listener = createUploadListener(beginBlob)
  const scanner = createJsonScanner(listener)
  const isUtf8 = createUtf8Check()
  const chunks = body[Symbol.asyncIterator]() // by hand: a `for await` left early destroys the request's socket
  let read = 0
  try {
    for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) {
      const chunk = Buffer.from(next.value.buffer, next.value.byteOffset, next.value.byteLength)
      if (!isUtf8(chunk)) throw notJson('not UTF-8 in the block that begins', read)
      scanner.push(chunk)
      read += chunk.length
      await listener.work()
    }
    scanner.end()
    await listener.work()
    return listener.upload
  } catch (error) {
    await listener.discardAll()
    throw error
  }
}

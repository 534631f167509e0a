// Reads the body of an upload in flat memory: the base64 of each document goes, decoded, to the disk as it arrives, and
// of the rest no more is kept than is needed. Whether it makes an acceptable request is not decided here: a document that
// is bad is noted and reading goes on, because the answer counts every bad one (decisions 3.1, 3.3 and 3.5).

import { setImmediate } from 'node:timers/promises'
import type { Upload } from '../../../domain/documents/upload.ts'
import { notJson } from '../../../json/error.ts'
import { createJsonScanner } from '../../../json/scanner.ts'
import { createUtf8Check } from '../../../json/utf8.ts'
import type { UploadNeeds } from './collector.ts'
import { createUploadListener } from './json-listener.ts'

export type UploadReader = {
  /** What was read so far. */
  upload: Upload
  /**
   * Reads the whole body. Throws AppError 'bad-request' for what is not JSON, what `memory` throws, and whatever body or
   * contents throw. The body is then left where it is, neither drained nor destroyed, so that the request can still be
   * answered; a caller that drains it iterates over it again.
   */
  read(body: AsyncIterable<Uint8Array>): Promise<void>
  /** Removes the contents that were not committed, and frees the memory that was held for them. */
  discard(): Promise<void>
}

export function createUploadReader(needs: UploadNeeds): UploadReader {
  const listener = createUploadListener(needs)
  const scanner = createJsonScanner(listener, needs.memory)
  const isUtf8 = createUtf8Check()
  return {
    upload: listener.upload,
    async read(body) {
      const chunks = body[Symbol.asyncIterator]() // by hand: a `for await` left early destroys the request's socket
      let read = 0
      for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) {
        const chunk = Buffer.from(next.value.buffer, next.value.byteOffset, next.value.byteLength)
        if (!isUtf8(chunk)) throw notJson('not UTF-8 in the block that begins', read)
        for (let at = 0; at < chunk.length; ) {
          at = scanner.push(chunk, at)
          await listener.work()
          if (at < chunk.length) await setImmediate() // others have their turn
        }
        read += chunk.length
      }
      scanner.end()
      await listener.work()
    },
    discard: () => listener.discardAll(),
  }
}

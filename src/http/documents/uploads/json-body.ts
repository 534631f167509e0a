// Reads the body of an upload in flat memory: the base64 of each document goes, decoded, to the disk as it arrives, and
// of the rest no more is kept than is needed. Whether it makes an acceptable request is not decided here: a document that
// is bad is noted and reading goes on, because the answer counts every bad one (decisions 3.1, 3.3 and 3.5).

import { setImmediate } from 'node:timers/promises'
import { notJson } from '../../../json/error.ts'
import { createJsonScanner } from '../../../json/scanner.ts'
import { createUtf8Check } from '../../../json/utf8.ts'
import type { UploadNeeds } from './collector.ts'
import { createUploadListener } from './json-listener.ts'
import { blocksOf, type UploadReader } from './reader.ts'

export function createUploadReader(needs: UploadNeeds): UploadReader {
  const listener = createUploadListener(needs)
  const scanner = createJsonScanner(listener, needs.memory)
  const isUtf8 = createUtf8Check()
  return {
    upload: listener.upload,
    async read(body) {
      let read = 0
      for await (const chunk of blocksOf(body)) {
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

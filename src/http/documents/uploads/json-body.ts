// Reads the JSON body of an upload in constant memory. The base64 of each document is decoded and written to disk as
// it arrives. Validation of the request is not done here. An invalid document is recorded and reading continues,
// since the answer counts every one (decisions#checks, #document and #all-or-nothing).

import { setImmediate } from 'node:timers/promises'
import { notJson } from '../../../formats/json/error.ts'
import { createJsonScanner } from '../../../formats/json/scanner.ts'
import { createUtf8Check } from '../../../formats/json/utf8.ts'
import { readBlocks, type UploadReader } from './body-reader.ts'
import type { UploadNeeds } from './collector.ts'
import { createUploadListener } from './json-listener.ts'

export function createUploadReader(needs: UploadNeeds): UploadReader {
  const listener = createUploadListener(needs)
  const scanner = createJsonScanner(listener, needs.memory)
  const isUtf8 = createUtf8Check()
  return {
    upload: listener.upload,
    async read(body) {
      let read = 0
      for await (const chunk of readBlocks(body)) {
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

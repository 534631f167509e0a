// An upload of one document whose body is the content, byte for byte. Its name, type and ids stand elsewhere in the request.

import { faultOf } from '../../../domain/documents/faults.ts'
import type { Upload, UploadedField } from '../../../domain/documents/upload.ts'
import { createDocumentCollector, type UploadNeeds } from './collector.ts'
import { blocksOf, type UploadReader } from './reader.ts'

/** `ids` are of the three parties; name and type are judged like those of any document. */
export function createRawReader(
  needs: UploadNeeds,
  ids: Omit<Upload, 'documents'>,
  described: { name: UploadedField; mimetype: string },
): UploadReader {
  const collector = createDocumentCollector(needs)
  return {
    upload: { ...ids, documents: collector.documents },
    async read(body) {
      const good = { ...described, content: 'good' } as const
      if (faultOf(good)) return void collector.settle(good, undefined) // the client need not send it
      const writer = collector.begin()
      let size = 0
      for await (const block of blocksOf(body)) {
        size += block.length
        await writer?.write(block)
      }
      await collector.settle(size > 0 ? good : { ...good, content: 'no bytes' }, writer)?.()
    },
    discard: collector.discard,
  }
}

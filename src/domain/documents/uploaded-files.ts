import type { MemoryShare } from '../../runtime/memory-budget.ts'
import { createRecords } from '../../runtime/records.ts'

/** A valid document; `content` is the index of its content within the upload. */
export type UploadedFile = { name: string; mimetype: string; content: number }

/** Valid documents of an upload, in order. */
export type UploadedFiles = Iterable<UploadedFile> & {
  count(): number
  /** Adds a document with a valid name and type. */
  add(file: UploadedFile): void
}

const CONTENT_BYTES = 4
const HEAD_BYTES = CONTENT_BYTES + 1 // plus the length of the type; 0 repeats the type of the previous file

export function createUploadedFiles(memory: MemoryShare): UploadedFiles {
  const records = createRecords(memory)
  let count = 0
  let last = ''
  return {
    count: () => count,
    add({ name, mimetype, content }) {
      const type = mimetype === last ? '' : mimetype
      const record = records.add(HEAD_BYTES + type.length + Buffer.byteLength(name))
      record.writeUInt32LE(content, 0)
      record.writeUInt8(type.length, CONTENT_BYTES)
      record.write(type, HEAD_BYTES, 'latin1')
      record.write(name, HEAD_BYTES + type.length)
      last = mimetype
      count++
    },
    *[Symbol.iterator]() {
      let mimetype = ''
      for (const record of records) {
        const name = HEAD_BYTES + record.readUInt8(CONTENT_BYTES)
        if (name > HEAD_BYTES) mimetype = record.toString('latin1', HEAD_BYTES, name)
        yield { name: record.toString('utf8', name), mimetype, content: record.readUInt32LE(0) }
      }
    },
  }
}

import type { MemoryShare } from '../../runtime/memory-budget.ts'
import { createRecords } from '../../runtime/records.ts'
import type { NewInvoice } from '../../store/documents/invoices.ts'

/** A valid document; `content` is the index of its content within the upload. */
export type UploadedFile = {
  name: string
  mimetype: string
  content: number
  invoice?: NewInvoice | undefined
}

/** Valid documents of an upload, in order. */
export type UploadedFiles = Iterable<UploadedFile> & {
  count(): number
  /** Counts the contents that are invoices, readable or not. */
  invoiceCount(): number
  /** Adds a document with a valid name and type. */
  add(file: UploadedFile): void
}

const CONTENT_BYTES = 4
const INVOICE_LENGTH_AT = CONTENT_BYTES + 1 // after the length of the type; 0 repeats the type of the previous file
const HEAD_BYTES = INVOICE_LENGTH_AT + 2

const NO_BYTES = Buffer.alloc(0)

export function createUploadedFiles(memory: MemoryShare): UploadedFiles {
  const records = createRecords(memory)
  let count = 0
  let invoiceCount = 0
  let last = ''
  return {
    count: () => count,
    invoiceCount: () => invoiceCount,
    add({ name, mimetype, content, invoice }) {
      const type = mimetype === last ? '' : mimetype
      const facts = invoice ? Buffer.from(JSON.stringify(invoice)) : NO_BYTES
      const nameStart = HEAD_BYTES + type.length + facts.length
      const record = records.add(nameStart + Buffer.byteLength(name))
      record.writeUInt32LE(content, 0)
      record.writeUInt8(type.length, CONTENT_BYTES)
      record.writeUInt16LE(facts.length, INVOICE_LENGTH_AT)
      record.write(type, HEAD_BYTES, 'latin1')
      facts.copy(record, HEAD_BYTES + type.length)
      record.write(name, nameStart)
      last = mimetype
      count++
      if (invoice?.source === 'content') invoiceCount++
    },
    *[Symbol.iterator]() {
      let mimetype = ''
      for (const record of records) {
        const factsStart = HEAD_BYTES + record.readUInt8(CONTENT_BYTES)
        if (factsStart > HEAD_BYTES) mimetype = record.toString('latin1', HEAD_BYTES, factsStart)
        const nameStart = factsStart + record.readUInt16LE(INVOICE_LENGTH_AT)
        const name = record.toString('utf8', nameStart)
        const file = { name, mimetype, content: record.readUInt32LE(0) }
        if (nameStart === factsStart) yield file
        else
          yield { ...file, invoice: JSON.parse(record.toString('utf8', factsStart, nameStart)) as NewInvoice }
      }
    },
  }
}

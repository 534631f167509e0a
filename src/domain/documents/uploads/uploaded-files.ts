import type { MemoryShare } from '../../../runtime/memory-budget.ts'
import { createPackedRows } from '../../../runtime/packed-rows.ts'
import type { FileFields } from '../../../store/documents/documents.ts'
import type { NewInvoice } from '../../../store/documents/invoices.ts'

/** A valid document; `blob` is the index of its blob within the upload. */
export type UploadedFile = FileFields & {
  blob: number
  invoice?: NewInvoice | undefined
  /** Name and type as 1.0.0 read them, for the fingerprint; absent: the same. */
  sent?: FileFields | undefined
}

/** Valid documents of an upload, in order. */
export type UploadedFiles = Iterable<UploadedFile> & {
  count(): number
  /** Counts the blobs that are invoices. */
  invoiceCounts(): InvoiceCount[]
  /** Adds a document with a valid name and type. */
  add(file: UploadedFile): void
}

const BLOB_BYTES = 4
const INVOICE_LENGTH_AT = BLOB_BYTES + 1 // after the length of the type; 0 repeats the type of the previous file
const HEAD_BYTES = INVOICE_LENGTH_AT + 2

const NO_BYTES = Buffer.alloc(0)

export function createUploadedFiles(memory: MemoryShare): UploadedFiles {
  const rows = createPackedRows(memory)
  let count = 0
  const tally = createInvoiceTally()
  let last = ''
  return {
    count: () => count,
    invoiceCounts: tally.counts,
    add({ name, mimetype, blob, invoice, sent }) {
      const type = mimetype === last ? '' : mimetype
      const facts = invoice ? Buffer.from(JSON.stringify(invoice)) : NO_BYTES
      const nameStart = HEAD_BYTES + type.length + facts.length
      const names = sent ? `${name}\0${JSON.stringify(sent)}` : name // no name has a NUL
      const row = rows.add(nameStart + Buffer.byteLength(names))
      row.writeUInt32LE(blob, 0)
      row.writeUInt8(type.length, BLOB_BYTES)
      row.writeUInt16LE(facts.length, INVOICE_LENGTH_AT)
      row.write(type, HEAD_BYTES, 'latin1')
      facts.copy(row, HEAD_BYTES + type.length)
      row.write(names, nameStart)
      last = mimetype
      count++
      tally.add(invoice)
    },
    *[Symbol.iterator]() {
      let mimetype = ''
      for (const row of rows) {
        const factsStart = HEAD_BYTES + row.readUInt8(BLOB_BYTES)
        if (factsStart > HEAD_BYTES) mimetype = row.toString('latin1', HEAD_BYTES, factsStart)
        const nameStart = factsStart + row.readUInt16LE(INVOICE_LENGTH_AT)
        const [name = '', sent] = row.toString('utf8', nameStart).split('\0')
        const file: UploadedFile = { name, mimetype, blob: row.readUInt32LE(0) }
        if (sent !== undefined) file.sent = JSON.parse(sent) as FileFields
        if (nameStart === factsStart) yield file
        else {
          yield {
            ...file,
            // Most callers do not read it.
            get invoice() {
              return JSON.parse(row.toString('utf8', factsStart, nameStart)) as NewInvoice
            },
          }
        }
      }
    },
  }
}

/** Number of blobs that are invoices of a kind; `fault`: without readable facts. */
export type InvoiceCount = { kind: string; result: 'read' | 'fault'; count: number }

/** Counts blobs by kind and result. */
export type InvoiceTally = {
  add(invoice: NewInvoice | undefined): void
  addAll(counts: readonly InvoiceCount[]): void
  counts(): InvoiceCount[]
}

export function createInvoiceTally(): InvoiceTally {
  const counts = new Map<string, InvoiceCount>()
  const addCount = ({ kind, result, count }: InvoiceCount) => {
    const entry = counts.getOrInsertComputed(`${kind} ${result}`, () => ({ kind, result, count: 0 }))
    entry.count += count
  }
  return {
    add(invoice) {
      if (invoice?.source !== 'content' || invoice.kind === null) return
      addCount({ kind: invoice.kind, result: invoice.fault === null ? 'read' : 'fault', count: 1 })
    },
    addAll: (more) => more.forEach(addCount),
    counts: () => [...counts.values()],
  }
}

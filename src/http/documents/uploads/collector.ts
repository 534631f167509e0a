// Collects the documents of an upload in any format, and validates each at its end. After the first invalid document
// the others are only validated, and no blob is stored (decisions#all-or-nothing).

import { MAX_LISTED_FAULTS, validateDocument } from '../../../domain/documents/uploads/faults.ts'
import type {
  DescribedFault,
  UploadedDocument,
  UploadedDocuments,
  UploadFault,
  ValidDocuments,
} from '../../../domain/documents/uploads/upload.ts'
import { createUploadedFiles } from '../../../domain/documents/uploads/uploaded-files.ts'
import type { BlobRecognition } from '../../../domain/invoices/recognition.ts'
import type { MemoryShare } from '../../../runtime/memory-budget.ts'
import type { BatchBlobWriter, BlobBatch } from '../../../store/blobs/batch.ts'

export type UploadNeeds = {
  beginBatch: (memory: MemoryShare) => BlobBatch
  /** Memory for data beside the blobs. */
  memory: MemoryShare
  /** Called after every thousandth document; may throw to end the reading. */
  watch: () => Promise<void>
  recognize: () => BlobRecognition
}

/** Writes a blob, and recognizes an invoice in it. */
export type RecognizedBlobWriter = BatchBlobWriter & { recognition: BlobRecognition }

export type DocumentCollector = {
  /** Documents so far. */
  documents: UploadedDocuments
  /** Starts a blob; undefined: it would not be stored. */
  begin(): RecognizedBlobWriter | undefined
  /**
   * Validates the next document; undefined: not a document. `writer` has its whole blob. Returns the disk work, to
   * be run before any other of this upload.
   */
  settle(
    document: UploadedDocument | undefined,
    writer: RecognizedBlobWriter | undefined,
  ): (() => Promise<void>) | undefined
  /** Removes the uncommitted blobs, and frees their memory. */
  discard(): Promise<void>
}

const DOCUMENTS_PER_CHECK = 1000

/** `describeFault` may word a fault for the upload format. */
export function createDocumentCollector(
  { beginBatch, memory, watch, recognize }: UploadNeeds,
  describeFault = ({ field, message }: DescribedFault): UploadFault => ({ field, message }),
): DocumentCollector {
  const documents: UploadedDocuments = { total: 0, faults: [], faulty: 0, valid: undefined }
  let storage: { kept: ValidDocuments; share: MemoryShare } | undefined

  const openStorage = (): ValidDocuments => {
    const share = memory.part()
    const documentStore = { files: createUploadedFiles(share), blobs: beginBatch(share) }
    storage = { kept: documentStore, share }
    return documentStore
  }

  const discard = async () => {
    documents.valid = undefined
    const previous = storage
    await previous?.kept.blobs.discard()
    previous?.share[Symbol.dispose]()
    storage = undefined
  }

  const storeDocument = async (
    to: ValidDocuments,
    { name, mimetype, sent }: UploadedDocument,
    writer: RecognizedBlobWriter,
  ) => {
    const invoice = writer.recognition.end(name as string)
    const blob = await writer.keep()
    to.files.add({ name: name as string, mimetype: mimetype as string, blob, invoice, sent })
    if (to.files.count() % DOCUMENTS_PER_CHECK === 0) await watch()
  }

  return {
    documents,
    begin() {
      if (documents.faulty === 0) documents.valid ??= openStorage()
      return documents.valid && beginRecognizedBlob(documents.valid.blobs, recognize())
    },
    settle(document, writer) {
      const fault = validateDocument(document)
      const index = documents.total++
      const { valid: kept } = documents
      if (fault) {
        if (documents.faults.length < MAX_LISTED_FAULTS)
          documents.faults.push({ index, ...describeFault(fault) })
        documents.faulty++
        documents.valid = undefined
        return kept && discard
      }
      return document && writer && kept ? () => storeDocument(kept, document, writer) : undefined
    },
    discard,
  }
}

function beginRecognizedBlob(blobs: BlobBatch, recognition: BlobRecognition): RecognizedBlobWriter {
  const writer = blobs.begin()
  return {
    ...writer,
    recognition,
    write(bytes) {
      recognition.write(bytes)
      return writer.write(bytes)
    },
  }
}

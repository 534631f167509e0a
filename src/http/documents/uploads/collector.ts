// The documents of an upload as they come, whichever way it is sent. Each is judged when it ends. With the first bad one all
// are lost: the others are only judged then, and nothing is kept of them (decisions 3.5).

import { faultOf, MOST_FAULTS } from '../../../domain/documents/faults.ts'
import type {
  Fault,
  KeptDocuments,
  UploadedDocument,
  UploadedDocuments,
} from '../../../domain/documents/upload.ts'
import { createUploadedFiles } from '../../../domain/documents/uploaded-files.ts'
import type { MemoryShare } from '../../../memory-budget.ts'
import type { BlobBatch, ContentWriter } from '../../../store/blobs/batch.ts'

export type UploadNeeds = {
  beginBatch: (memory: MemoryShare) => BlobBatch
  /** For what is held beside the contents. */
  memory: MemoryShare
  /** Called after every thousandth document; may throw to end the reading. */
  watch: () => Promise<void>
}

export type DocumentCollector = {
  /** What was judged so far. */
  documents: UploadedDocuments
  /** Begins a content; undefined: it would not be kept. */
  begin(): ContentWriter | undefined
  /**
   * Judges the next document; undefined stands for what is none. `writer` has its whole content. What comes back is what
   * the disk has to do, to be done before anything else of this upload.
   */
  settle(
    document: UploadedDocument | undefined,
    writer: ContentWriter | undefined,
  ): (() => Promise<void>) | undefined
  /** Removes every content that was not committed, and frees what was held of them. */
  discard(): Promise<void>
}

const WATCHED_EVERY = 1000

/** `inItsWords` may say a fault in the words of the way that the documents are sent. */
export function createDocumentCollector(
  { beginBatch, memory, watch }: UploadNeeds,
  inItsWords = (fault: Fault): Fault => fault,
): DocumentCollector {
  const documents: UploadedDocuments = { total: 0, faults: [], faulty: 0, kept: undefined }
  let begun: { kept: KeptDocuments; own: MemoryShare } | undefined

  const beginKeeping = (): KeptDocuments => {
    const own = memory.part()
    const kept = { files: createUploadedFiles(own), contents: beginBatch(own) }
    begun = { kept, own }
    return kept
  }

  const discard = async () => {
    documents.kept = undefined
    const dropped = begun
    await dropped?.kept.contents.discard()
    dropped?.own[Symbol.dispose]()
    begun = undefined
  }

  const keep = async (to: KeptDocuments, { name, mimetype }: UploadedDocument, writer: ContentWriter) => {
    to.files.add({ name: name as string, mimetype: mimetype as string, content: await writer.keep() })
    if (to.files.count() % WATCHED_EVERY === 0) await watch()
  }

  return {
    documents,
    begin() {
      if (documents.faulty === 0) documents.kept ??= beginKeeping()
      return documents.kept?.contents.begin()
    },
    settle(document, writer) {
      const fault = faultOf(document)
      const index = documents.total++
      const { kept } = documents
      if (fault) {
        if (documents.faults.length < MOST_FAULTS) documents.faults.push({ index, ...inItsWords(fault) })
        documents.faulty++
        documents.kept = undefined
        return kept && discard
      }
      return document && writer && kept ? () => keep(kept, document, writer) : undefined
    },
    discard,
  }
}

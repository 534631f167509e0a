// Finds the fields of an upload among the events of its JSON, and judges each document when it ends. The events come
// faster than a disk takes bytes, so what has to wait for the disk is put on a list, in order, and done between two blocks
// of the body. With the first bad document all are lost: the others are only judged then, and nothing is kept of them.

import { faultOf, MOST_FAULTS } from '../../../domain/documents/faults.ts'
import {
  isDocuments,
  type KeptDocuments,
  NESTED,
  type Upload,
  type UploadedDocument,
  type UploadedDocuments,
  type UploadedField,
} from '../../../domain/documents/upload.ts'
import { createUploadedFiles } from '../../../domain/documents/uploaded-files.ts'
import { type Base64Decoder, createBase64Decoder } from '../../../json/base64.ts'
import type { JsonListener } from '../../../json/scanner.ts'
import { integerOf, type JsonScalar } from '../../../json/value.ts'
import type { MemoryShare } from '../../../memory-budget.ts'
import type { BlobBatch, ContentWriter } from '../../../store/blobs/batch.ts'

export type UploadListener = JsonListener & {
  upload: Upload
  /** Does what the events so far ask of the disk. */
  work(): Promise<void>
  /** Removes every content that was not committed, and frees what was held of them. */
  discardAll(): Promise<void>
}

/** A base64 string; it is written as long as its documents may be kept. */
type Content = { decoder: Base64Decoder; good: boolean; size: number; writer: ContentWriter | undefined }

type Job = () => Promise<unknown> | undefined

// Depths of the places that matter: the values of the root, the elements of `documents`, their values.
const IN_ROOT = 1
const IN_DOCUMENTS = 2
const IN_DOCUMENT = 3

const ROOT_KEYS = ['owner_id', 'company_id', 'agent_id', 'documents'] as const
const DOCUMENT_KEYS = ['name', 'mimetype', 'base64'] as const

// Bytes as they are written: 255 characters of two \u0041 each; a number with every digit escaped.
const KEPT_OF_TEXT = 4096
const KEPT_OF_ID = 128
const KEPT_OF_ELEMENT = 1 // that it is there

// A millisecond or two of the processor, and half a megabyte of memory.
const JOBS_AT_ONCE = 250
const ELEMENTS_AT_ONCE = 250
const WATCHED_EVERY = 1000

export type UploadNeeds = {
  beginBatch: (memory: MemoryShare) => BlobBatch
  /** For what is held beside the contents. */
  memory: MemoryShare
  /** Called after every thousandth document; may throw to end the reading. */
  watch: () => Promise<void>
}

export function createUploadListener({ beginBatch, memory, watch }: UploadNeeds): UploadListener {
  const upload: Upload = {
    owner_id: undefined,
    company_id: undefined,
    agent_id: undefined,
    documents: undefined,
  }
  const begun = new Map<KeptDocuments, MemoryShare>()
  let jobs: Job[] = []
  let elements = 0 // of `documents` since the last work
  let depth = 0
  let rootKey: (typeof ROOT_KEYS)[number] | undefined
  let documentKey: (typeof DOCUMENT_KEYS)[number] | undefined
  let documents: UploadedDocuments | undefined // while inside of it
  let document: UploadedDocument | undefined // while inside of it
  let content: Content | undefined // of the document, the last

  const beginKeeping = (): KeptDocuments => {
    const own = memory.part()
    const kept = { files: createUploadedFiles(own), contents: beginBatch(own) }
    begun.set(kept, own)
    return kept
  }

  const drop = async (kept: KeptDocuments) => {
    await kept.contents.discard()
    begun.get(kept)?.[Symbol.dispose]()
    begun.delete(kept)
  }

  const dropAll = (of: UploadedDocuments) => {
    const { kept } = of
    of.kept = undefined
    if (kept) jobs.push(() => drop(kept))
  }

  /** Of a repeated key the last value counts, so the contents of an earlier one go. */
  const setRoot = (value: UploadedDocuments | UploadedField) => {
    if (rootKey === 'documents') {
      const old = upload.documents
      upload.documents = value
      if (isDocuments(old)) dropAll(old)
    } else if (rootKey !== undefined && !isDocuments(value)) {
      upload[rootKey] = value
    }
  }

  const dropContent = () => {
    const writer = content?.writer
    if (writer) jobs.push(() => writer.discard())
    content = undefined
  }

  const setInDocument = (target: UploadedDocument, value: UploadedField) => {
    if (documentKey === 'name' || documentKey === 'mimetype') target[documentKey] = value
    if (documentKey !== 'base64') return
    dropContent()
    target.content = value === null ? undefined : 'not a string'
  }

  const keep = async (to: KeptDocuments, { name, mimetype }: UploadedDocument, writer: ContentWriter) => {
    to.files.add({ name: name as string, mimetype: mimetype as string, content: await writer.keep() })
    if (to.files.count() % WATCHED_EVERY === 0) await watch()
  }

  /** Judges the next element of `documents`; `ended` is undefined if it was no object. */
  const settle = (to: UploadedDocuments, ended: UploadedDocument | undefined) => {
    const fault = faultOf(ended)
    const index = to.total++
    elements++
    const [writer, kept] = [content?.writer, to.kept]
    if (fault) {
      if (to.faults.length < MOST_FAULTS) to.faults.push({ index, ...fault })
      to.faulty++
      dropAll(to)
    } else if (ended && writer && kept) {
      jobs.push(() => keep(kept, ended, writer))
    }
    document = undefined
    content = undefined
  }

  return {
    upload,
    open(kind) {
      const place = depth++
      if (place === 0) return kind === 'object'
      if (place === IN_ROOT) {
        const isList = rootKey === 'documents' && kind === 'array'
        documents = isList ? { total: 0, faults: [], faulty: 0, kept: undefined } : undefined
        setRoot(documents ?? NESTED)
        return documents !== undefined
      }
      if (place === IN_DOCUMENTS && documents) {
        if (kind === 'object') document = { name: undefined, mimetype: undefined, content: undefined }
        else settle(documents, undefined)
        return kind === 'object'
      }
      if (document) setInDocument(document, NESTED)
      return false
    },
    close(kind, empty) {
      depth--
      if (depth === IN_DOCUMENTS && documents && document) settle(documents, document)
      if (depth !== IN_ROOT) return
      if (kind === 'array' && empty) setRoot(undefined)
      documents = undefined
    },
    key(name) {
      if (depth === IN_ROOT) rootKey = ROOT_KEYS.find((key) => key === name)
      else documentKey = DOCUMENT_KEYS.find((key) => key === name)
    },
    value(value) {
      if (depth === IN_ROOT) setRoot(fieldOf(value))
      else if (depth === IN_DOCUMENTS && documents) settle(documents, undefined)
      else if (document) setInDocument(document, fieldOf(value))
    },
    keep() {
      if (depth === IN_ROOT) return rootKey === undefined ? 0 : KEPT_OF_ID
      if (depth === IN_DOCUMENTS) return KEPT_OF_ELEMENT
      return depth === IN_DOCUMENT && documentKey !== undefined ? KEPT_OF_TEXT : 0
    },
    wantsPieces() {
      if (depth !== IN_DOCUMENT || documentKey !== 'base64' || !documents) return false
      dropContent()
      if (documents.faulty === 0) documents.kept ??= beginKeeping()
      const writer = documents.kept?.contents.begin()
      content = { decoder: createBase64Decoder(), good: true, size: 0, writer }
      return true
    },
    piece(bytes) {
      const current = content
      if (!current?.good) return false
      const decoded = current.decoder.decode(bytes)
      current.good = decoded !== undefined
      if (decoded === undefined) return false
      current.size += decoded.length
      const { writer } = current
      // The decoder lends its bytes until its next piece, which comes with the next block of the body, after the work.
      if (writer && decoded.length > 0) jobs.push(() => writer.write(decoded))
      return true
    },
    endOfPieces() {
      if (!content || !document) return
      const good = content.good && content.decoder.complete()
      document.content = !good ? 'not base64' : content.size === 0 ? 'empty' : 'good'
    },
    isBusy: () => jobs.length >= JOBS_AT_ONCE || elements >= ELEMENTS_AT_ONCE,
    async work() {
      const now = jobs
      jobs = []
      elements = 0
      for (const job of now) await job()
    },
    async discardAll() {
      for (const kept of begun.keys()) await drop(kept)
    },
  }
}

function fieldOf(value: JsonScalar): UploadedField {
  return typeof value === 'object' && value !== null ? integerOf(value) : value
}

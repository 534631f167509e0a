// Finds the fields of an upload among the events of its JSON, and has each document validated when it ends. Events
// come faster than a disk writes. So disk work is queued in order, and done between two blocks of the body.

import {
  FILE_FIELDS,
  isDocuments,
  NESTED,
  UPLOAD_FIELDS,
  type Upload,
  type UploadedDocument,
  type UploadedField,
} from '../../../domain/documents/uploads/upload.ts'
import { type Base64Decoder, createBase64Decoder } from '../../../formats/json/base64.ts'
import type { JsonListener } from '../../../formats/json/scanner.ts'
import { type JsonScalar, toInteger } from '../../../formats/json/value.ts'
import type { RecognizedBlobWriter } from './collector.ts'
import { createDocumentCollector, type DocumentCollector, type UploadNeeds } from './collector.ts'

type UploadListener = JsonListener & {
  upload: Upload
  /** Runs the disk work of the events so far. */
  work(): Promise<void>
  /** Removes the uncommitted blobs, and frees their memory. */
  discardAll(): Promise<void>
}

/** A base64 string; `writer` is set while its documents may be stored. */
type Base64Field = {
  decoder: Base64Decoder
  good: boolean
  size: number
  writer: RecognizedBlobWriter | undefined
}

type Job = () => Promise<unknown> | undefined

// Depths of the places that matter: the values of the root, the elements of `documents`, their values.
const IN_ROOT = 1
const IN_DOCUMENTS = 2
const IN_DOCUMENT = 3

const DOCUMENT_KEYS = [...FILE_FIELDS, 'base64'] as const

// Bytes as they are written: 255 characters of two \u0041 each; a number with every digit escaped.
const MAX_TEXT_BYTES = 4096
const MAX_ID_BYTES = 128
const MAX_ELEMENT_BYTES = 1 // only the presence counts

// A millisecond or two of the processor, and half a megabyte of memory.
const MAX_JOBS = 250
const MAX_ELEMENTS = 250

export function createUploadListener(needs: UploadNeeds): UploadListener {
  const upload: Upload = {
    owner_id: undefined,
    company_id: undefined,
    agent_id: undefined,
    documents: undefined,
  }
  const collectors = new Set<DocumentCollector>()
  let current: DocumentCollector | undefined // collector of the last `documents`
  let jobs: Job[] = []
  let elements = 0 // elements of `documents` since the last work
  let depth = 0
  let rootKey: keyof Upload | undefined
  let documentKey: (typeof DOCUMENT_KEYS)[number] | undefined
  let collector: DocumentCollector | undefined // set inside of `documents`
  let document: UploadedDocument | undefined // set inside of a document
  let blob: Base64Field | undefined // last blob of the document

  const discardCollector = (old: DocumentCollector) => async () => {
    await old.discard()
    collectors.delete(old)
  }

  /** The last value of a repeated key counts, so the blobs of an earlier one are removed. */
  const setRoot = (value: Upload['documents']) => {
    if (rootKey === 'documents') {
      if (current) jobs.push(discardCollector(current))
      current = collector
      upload.documents = value
    } else if (rootKey !== undefined && !isDocuments(value)) {
      upload[rootKey] = value
    }
  }

  const dropBlob = () => {
    const writer = blob?.writer
    if (writer) jobs.push(() => writer.discard())
    blob = undefined
  }

  const setInDocument = (target: UploadedDocument, value: UploadedField) => {
    if (documentKey === undefined) return
    if (documentKey !== 'base64') {
      target[documentKey] = value
      return
    }
    dropBlob()
    target.blob = value === null ? undefined : 'not a string'
  }

  /** Has the next element of `documents` judged; `ended` is undefined if it was no object. */
  const settle = (to: DocumentCollector, ended: UploadedDocument | undefined) => {
    elements++
    const job = to.settle(ended, blob?.writer)
    if (job) jobs.push(job)
    document = undefined
    blob = undefined
  }

  return {
    upload,
    open(kind) {
      const place = depth++
      if (place === 0) return kind === 'object'
      if (place === IN_ROOT) {
        const isList = rootKey === 'documents' && kind === 'array'
        collector = isList ? createDocumentCollector(needs) : undefined
        if (collector) collectors.add(collector)
        setRoot(collector?.documents ?? NESTED)
        return collector !== undefined
      }
      if (place === IN_DOCUMENTS && collector) {
        if (kind === 'object') document = { name: undefined, mimetype: undefined, blob: undefined }
        else settle(collector, undefined)
        return kind === 'object'
      }
      if (document) setInDocument(document, NESTED)
      return false
    },
    close(kind, empty) {
      depth--
      if (depth === IN_DOCUMENTS && collector && document) settle(collector, document)
      if (depth !== IN_ROOT) return
      collector = undefined
      if (kind === 'array' && empty) setRoot(undefined)
    },
    key(name) {
      if (depth === IN_ROOT) rootKey = UPLOAD_FIELDS.find((key) => key === name)
      else documentKey = DOCUMENT_KEYS.find((key) => key === name)
    },
    value(value) {
      if (depth === IN_ROOT) setRoot(toField(value))
      else if (depth === IN_DOCUMENTS && collector) settle(collector, undefined)
      else if (document) setInDocument(document, toField(value))
    },
    maxBytes() {
      if (depth === IN_ROOT) return rootKey === undefined ? 0 : MAX_ID_BYTES
      if (depth === IN_DOCUMENTS) return MAX_ELEMENT_BYTES
      return depth === IN_DOCUMENT && documentKey !== undefined ? MAX_TEXT_BYTES : 0
    },
    wantsPieces() {
      if (depth !== IN_DOCUMENT || documentKey !== 'base64' || !collector) return false
      dropBlob()
      blob = { decoder: createBase64Decoder(), good: true, size: 0, writer: collector.begin() }
      return true
    },
    piece(bytes) {
      const current = blob
      if (!current?.good) return false
      const decoded = current.decoder.decode(bytes)
      current.good = decoded !== undefined
      if (decoded === undefined) return false
      current.size += decoded.length
      const { writer } = current
      // The decoder reuses these bytes for its next piece, in the next block of the body, after this job.
      if (writer && decoded.length > 0) jobs.push(() => writer.write(decoded))
      return true
    },
    endOfPieces() {
      if (!blob || !document) return
      const good = blob.good && blob.decoder.complete()
      document.blob = !good ? 'not base64' : blob.size === 0 ? 'empty' : 'good'
    },
    isBusy: () => jobs.length >= MAX_JOBS || elements >= MAX_ELEMENTS,
    async work() {
      const now = jobs
      jobs = []
      elements = 0
      for (const job of now) await job()
    },
    async discardAll() {
      for (const one of collectors) await one.discard()
    },
  }
}

function toField(value: JsonScalar): UploadedField {
  return typeof value === 'object' && value !== null ? toInteger(value) : value
}

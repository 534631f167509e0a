// Finds the fields of an upload among the events of its JSON, and has each document judged when it ends. The events come
// faster than a disk takes bytes, so what has to wait for the disk is put on a list, in order, and done between two blocks
// of the body.

import {
  isDocuments,
  NESTED,
  type Upload,
  type UploadedDocument,
  type UploadedField,
} from '../../../domain/documents/upload.ts'
import { type Base64Decoder, createBase64Decoder } from '../../../json/base64.ts'
import type { JsonListener } from '../../../json/scanner.ts'
import { integerOf, type JsonScalar } from '../../../json/value.ts'
import type { ContentWriter } from '../../../store/blobs/batch.ts'
import { createDocumentCollector, type DocumentCollector, type UploadNeeds } from './collector.ts'

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

export function createUploadListener(needs: UploadNeeds): UploadListener {
  const upload: Upload = {
    owner_id: undefined,
    company_id: undefined,
    agent_id: undefined,
    documents: undefined,
  }
  const begun = new Set<DocumentCollector>()
  let current: DocumentCollector | undefined // of the last `documents`
  let jobs: Job[] = []
  let elements = 0 // of `documents` since the last work
  let depth = 0
  let rootKey: (typeof ROOT_KEYS)[number] | undefined
  let documentKey: (typeof DOCUMENT_KEYS)[number] | undefined
  let collector: DocumentCollector | undefined // of `documents`, while inside of it
  let document: UploadedDocument | undefined // while inside of it
  let content: Content | undefined // of the document, the last

  const dropping = (old: DocumentCollector) => async () => {
    await old.discard()
    begun.delete(old)
  }

  /** Of a repeated key the last value counts, so the contents of an earlier one go. */
  const setRoot = (value: Upload['documents']) => {
    if (rootKey === 'documents') {
      if (current) jobs.push(dropping(current))
      current = collector
      upload.documents = value
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

  /** Has the next element of `documents` judged; `ended` is undefined if it was no object. */
  const settle = (to: DocumentCollector, ended: UploadedDocument | undefined) => {
    elements++
    const job = to.settle(ended, content?.writer)
    if (job) jobs.push(job)
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
        collector = isList ? createDocumentCollector(needs) : undefined
        if (collector) begun.add(collector)
        setRoot(collector?.documents ?? NESTED)
        return collector !== undefined
      }
      if (place === IN_DOCUMENTS && collector) {
        if (kind === 'object') document = { name: undefined, mimetype: undefined, content: undefined }
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
      if (depth === IN_ROOT) rootKey = ROOT_KEYS.find((key) => key === name)
      else documentKey = DOCUMENT_KEYS.find((key) => key === name)
    },
    value(value) {
      if (depth === IN_ROOT) setRoot(fieldOf(value))
      else if (depth === IN_DOCUMENTS && collector) settle(collector, undefined)
      else if (document) setInDocument(document, fieldOf(value))
    },
    keep() {
      if (depth === IN_ROOT) return rootKey === undefined ? 0 : KEPT_OF_ID
      if (depth === IN_DOCUMENTS) return KEPT_OF_ELEMENT
      return depth === IN_DOCUMENT && documentKey !== undefined ? KEPT_OF_TEXT : 0
    },
    wantsPieces() {
      if (depth !== IN_DOCUMENT || documentKey !== 'base64' || !collector) return false
      dropContent()
      content = { decoder: createBase64Decoder(), good: true, size: 0, writer: collector.begin() }
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
      for (const one of begun) await one.discard()
    },
  }
}

function fieldOf(value: JsonScalar): UploadedField {
  return typeof value === 'object' && value !== null ? integerOf(value) : value
}

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
import { type JsonScalar, type TOO_LONG, toInteger } from '../../../formats/json/value.ts'
import type { RecognizedBlobWriter } from './collector.ts'
import { createDocumentCollector, type DocumentCollector, type UploadNeeds } from './collector.ts'

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
  return new UploadListener(needs)
}

class UploadListener implements JsonListener {
  readonly upload: Upload = {
    owner_id: undefined,
    company_id: undefined,
    agent_id: undefined,
    documents: undefined,
  }
  readonly #needs: UploadNeeds
  readonly #collectors = new Set<DocumentCollector>()
  #current: DocumentCollector | undefined // collector of the last `documents`
  #jobs: Job[] = []
  #elements = 0 // elements of `documents` since the last work
  #depth = 0
  #rootKey: keyof Upload | undefined
  #documentKey: (typeof DOCUMENT_KEYS)[number] | undefined
  #collector: DocumentCollector | undefined // set inside of `documents`
  #document: UploadedDocument | undefined // set inside of a document
  #blob: Base64Field | undefined // last blob of the document

  constructor(needs: UploadNeeds) {
    this.#needs = needs
  }

  open(kind: 'object' | 'array') {
    const place = this.#depth++
    if (place === 0) return kind === 'object'
    if (place === IN_ROOT) return this.#openField(kind)
    if (place === IN_DOCUMENTS && this.#collector) {
      if (kind === 'object') this.#document = { name: undefined, mimetype: undefined, blob: undefined }
      else this.#settle(this.#collector, undefined)
      return kind === 'object'
    }
    if (this.#document) this.#setInDocument(this.#document, NESTED)
    return false
  }

  close(kind: 'object' | 'array', empty: boolean) {
    this.#depth--
    if (this.#depth === IN_DOCUMENTS && this.#collector && this.#document)
      this.#settle(this.#collector, this.#document)
    if (this.#depth !== IN_ROOT) return
    this.#collector = undefined
    if (kind === 'array' && empty) this.#setRoot(undefined)
  }

  key(name: string | typeof TOO_LONG) {
    if (this.#depth === IN_ROOT) this.#rootKey = UPLOAD_FIELDS.find((key) => key === name)
    else this.#documentKey = DOCUMENT_KEYS.find((key) => key === name)
  }

  value(value: JsonScalar) {
    if (this.#depth === IN_ROOT) this.#setRoot(toField(value))
    else if (this.#depth === IN_DOCUMENTS && this.#collector) this.#settle(this.#collector, undefined)
    else if (this.#document) this.#setInDocument(this.#document, toField(value))
  }

  maxBytes() {
    if (this.#depth === IN_ROOT) return this.#rootKey === undefined ? 0 : MAX_ID_BYTES
    if (this.#depth === IN_DOCUMENTS) return MAX_ELEMENT_BYTES
    return this.#depth === IN_DOCUMENT && this.#documentKey !== undefined ? MAX_TEXT_BYTES : 0
  }

  wantsPieces() {
    if (this.#depth !== IN_DOCUMENT || this.#documentKey !== 'base64' || !this.#collector) return false
    this.#dropBlob()
    const writer = this.#collector.begin()
    this.#blob = { decoder: createBase64Decoder(), good: true, size: 0, writer }
    return true
  }

  piece(bytes: Buffer) {
    const blob = this.#blob
    if (!blob?.good) return false
    const decoded = blob.decoder.decode(bytes)
    blob.good = decoded !== undefined
    if (decoded === undefined) return false
    blob.size += decoded.length
    const { writer } = blob
    // The decoder reuses these bytes for its next piece, in the next block of the body, after this job.
    if (writer && decoded.length > 0) this.#jobs.push(() => writer.write(decoded))
    return true
  }

  endOfPieces() {
    const [blob, document] = [this.#blob, this.#document]
    if (!blob || !document) return
    const good = blob.good && blob.decoder.complete()
    document.blob = !good ? 'not base64' : blob.size === 0 ? 'empty' : 'good'
  }

  isBusy() {
    return this.#jobs.length >= MAX_JOBS || this.#elements >= MAX_ELEMENTS
  }

  /** Runs the disk work of the events so far. */
  async work() {
    const jobs = this.#jobs
    this.#jobs = []
    this.#elements = 0
    for (const job of jobs) await job()
  }

  /** Removes the uncommitted blobs, and frees their memory. */
  async discardAll() {
    for (const one of this.#collectors) await one.discard()
  }

  #openField(kind: 'object' | 'array') {
    const isList = this.#rootKey === 'documents' && kind === 'array'
    this.#collector = isList ? createDocumentCollector(this.#needs) : undefined
    if (this.#collector) this.#collectors.add(this.#collector)
    this.#setRoot(this.#collector?.documents ?? NESTED)
    return isList
  }

  /** The last value of a repeated key counts, so the blobs of an earlier one are removed. */
  #setRoot(value: Upload['documents']) {
    if (this.#rootKey === 'documents') {
      const old = this.#current
      if (old) this.#jobs.push(() => this.#discardCollector(old))
      this.#current = this.#collector
      this.upload.documents = value
    } else if (this.#rootKey !== undefined && !isDocuments(value)) {
      this.upload[this.#rootKey] = value
    }
  }

  async #discardCollector(old: DocumentCollector) {
    await old.discard()
    this.#collectors.delete(old)
  }

  #setInDocument(target: UploadedDocument, value: UploadedField) {
    if (this.#documentKey === undefined) return
    if (this.#documentKey !== 'base64') {
      target[this.#documentKey] = value
      return
    }
    this.#dropBlob()
    target.blob = value === null ? undefined : 'not a string'
  }

  #dropBlob() {
    const writer = this.#blob?.writer
    if (writer) this.#jobs.push(() => writer.discard())
    this.#blob = undefined
  }

  /** Has the next element of `documents` judged; `ended` is undefined if it was no object. */
  #settle(to: DocumentCollector, ended: UploadedDocument | undefined) {
    this.#elements++
    const job = to.settle(ended, this.#blob?.writer)
    if (job) this.#jobs.push(job)
    this.#document = undefined
    this.#blob = undefined
  }
}

function toField(value: JsonScalar): UploadedField {
  return typeof value === 'object' && value !== null ? toInteger(value) : value
}

// Finds the fields of an upload among the events of its JSON. The events come faster than a disk takes bytes, so
// what has to wait for the disk is put on a list, in order, and done between two blocks of the body.

import { type Base64Decoder, createBase64Decoder } from '../base64.ts'
import {
  NESTED,
  type Upload,
  type UploadedContent,
  type UploadedDocument,
  type UploadedField,
} from '../domain/upload.ts'
import { AppError } from '../errors.ts'
import type { BlobWriter } from '../store/blob-writer.ts'
import type { JsonListener } from './json-scanner.ts'

export type UploadListener = JsonListener & {
  upload: Upload
  /** Does what the events so far ask of the disk. */
  work(): Promise<void>
  /** Removes every blob that was begun. */
  discardAll(): Promise<void>
}

/** The base64 string that is being read. */
type Content = { decoder: Base64Decoder; good: boolean; writer: BlobWriter | undefined }

type Job = () => Promise<void> | undefined

const MAX_DOCUMENTS = 10_000 // bounds what `[{},{},…]` takes in memory

// Depths of the places that matter: the values of the root, the elements of `documents`, their values.
const IN_ROOT = 1
const IN_DOCUMENTS = 2
const IN_DOCUMENT = 3

export function createUploadListener(beginBlob: () => Promise<BlobWriter>): UploadListener {
  const upload: Upload = {
    owner_id: undefined,
    company_id: undefined,
    agent_id: undefined,
    documents: undefined,
  }
  const begun = new Set<{ discard(): Promise<void> }>()
  let jobs: Job[] = []
  let depth = 0
  let inObject = false // the root is one
  let rootKey = ''
  let documentKey = ''
  let documents: UploadedDocument[] | undefined // while inside of it
  let document: UploadedDocument | undefined // while inside of it
  let content: Content | undefined

  const discard = async (blob: { discard(): Promise<void> }) => {
    begun.delete(blob)
    await blob.discard()
  }

  const setContent = async (target: UploadedDocument, value: UploadedContent | undefined) => {
    const old = target.content
    target.content = value
    if (old !== undefined && 'blob' in old) await discard(old.blob)
  }

  /** Of a repeated key the last value counts, so the blobs of an earlier one go. */
  const setRoot = (value: UploadedDocument[] | UploadedField) => {
    if (rootKey === 'documents') {
      const old = upload.documents
      upload.documents = value
      for (const target of Array.isArray(old) ? old : []) jobs.push(() => setContent(target, undefined))
    } else if (
      !Array.isArray(value) &&
      (rootKey === 'owner_id' || rootKey === 'company_id' || rootKey === 'agent_id')
    ) {
      upload[rootKey] = value
    }
  }

  const setInDocument = (target: UploadedDocument, value: UploadedField) => {
    if (documentKey === 'name' || documentKey === 'mimetype') target[documentKey] = value
    if (documentKey !== 'base64') return
    jobs.push(() => setContent(target, value === null ? undefined : { problem: 'not a string' }))
  }

  const addDocument = (to: UploadedDocument[]): UploadedDocument => {
    if (to.length === MAX_DOCUMENTS) {
      throw new AppError('bad-request', `A request may have at most ${MAX_DOCUMENTS} documents`)
    }
    const added = { name: undefined, mimetype: undefined, content: undefined }
    to.push(added)
    return added
  }

  const write = async (to: Content, bytes: Buffer) => {
    if (to.writer === undefined) {
      to.writer = await beginBlob()
      begun.add(to.writer)
    }
    await to.writer.write(bytes)
  }

  const finish = async (writer: BlobWriter, target: UploadedDocument) => {
    const blob = await writer.finish()
    begun.delete(writer)
    begun.add(blob)
    await setContent(target, { blob })
  }

  const spoil = (spoilt: Content) => {
    spoilt.good = false
    jobs.push(() => (spoilt.writer === undefined ? undefined : discard(spoilt.writer)))
  }

  return {
    upload,
    open(kind) {
      if (depth === 0) {
        inObject = kind === 'object'
      } else if (depth === IN_ROOT && inObject) {
        documents = rootKey === 'documents' && kind === 'array' ? [] : undefined
        setRoot(documents ?? NESTED)
      } else if (depth === IN_DOCUMENTS && documents !== undefined) {
        const added = addDocument(documents)
        document = kind === 'object' ? added : undefined
      } else if (depth === IN_DOCUMENT && document !== undefined) {
        setInDocument(document, NESTED)
      }
      depth++
    },
    close(kind, empty) {
      depth--
      if (depth === IN_DOCUMENTS) document = undefined
      if (depth !== IN_ROOT) return
      if (inObject && documents === undefined && kind === 'array' && empty) setRoot(undefined)
      documents = undefined
    },
    key(name) {
      if (depth === IN_ROOT) rootKey = name
      else if (depth === IN_DOCUMENT) documentKey = name
    },
    value(value) {
      if (depth === IN_ROOT && inObject) setRoot(value)
      else if (depth === IN_DOCUMENTS && documents !== undefined) addDocument(documents)
      else if (depth === IN_DOCUMENT && document !== undefined) setInDocument(document, value)
    },
    wantsPieces() {
      if (depth !== IN_DOCUMENT || document === undefined || documentKey !== 'base64') return false
      content = { decoder: createBase64Decoder(), good: true, writer: undefined }
      return true
    },
    piece(bytes) {
      const current = content
      if (current === undefined || !current.good) return false
      const decoded = current.decoder.decode(bytes)
      if (decoded === undefined) {
        spoil(current)
        return false
      }
      // The decoder lends its bytes until its next piece, which comes with the next block of the body, after the work.
      if (decoded.length > 0) jobs.push(() => write(current, decoded))
      return true
    },
    endOfPieces() {
      const current = content
      const target = document
      if (current === undefined || target === undefined) return
      if (current.good && !current.decoder.complete()) spoil(current)
      jobs.push(() => {
        if (!current.good) return setContent(target, { problem: 'not base64' })
        if (current.writer === undefined) return setContent(target, { problem: 'empty' })
        return finish(current.writer, target)
      })
    },
    async work() {
      const now = jobs
      jobs = []
      for (const job of now) await job()
    },
    async discardAll() {
      for (const blob of begun) await discard(blob)
    },
  }
}

// An upload as received: its ids before validation, and its documents, each validated on arrival.

import type { TOO_LONG } from '../../../formats/json/value.ts'
import type { BlobBatch } from '../../../store/blobs/batch.ts'
import type { UploadedFiles } from './uploaded-files.ts'

/** Placeholder for an object or an array in place of a plain value. */
export const NESTED = Symbol('an object or array')

/**
 * Undefined for an absent field or an empty array, which counts as missing (decisions 3.1). NaN for a number that is
 * not written as an integer.
 */
export type UploadedField = string | number | boolean | null | typeof NESTED | typeof TOO_LONG | undefined

/** Strings may have lone surrogates (`\ud800`). */
export type UploadedDocument = {
  name: UploadedField
  mimetype: UploadedField
  /** Undefined if `base64` is absent or null. The last two are for raw bytes. */
  blob: 'good' | 'empty' | 'not base64' | 'not a string' | 'no bytes' | 'encoded' | undefined
}

/** Fault of a document, as a message for its sender. */
export type UploadFault = { field: 'name' | 'mimetype' | 'base64' | 'content'; message: string }

/** `index` counts the documents of the request from 0. */
export type DocumentFault = { index: number } & UploadFault

export type UploadedDocuments = {
  total: number
  /** First 1,000 faults, in order. */
  faults: DocumentFault[]
  /** Number of documents with a fault. */
  faulty: number
  /** Documents with their blobs, if none has a fault. */
  valid: ValidDocuments | undefined
}

export type ValidDocuments = { files: UploadedFiles; blobs: BlobBatch }

export type Upload = {
  owner_id: UploadedField
  company_id: UploadedField
  agent_id: UploadedField
  documents: UploadedDocuments | UploadedField
}

export function isDocuments(value: UploadedDocuments | UploadedField): value is UploadedDocuments {
  return typeof value === 'object' && value !== null
}

// An upload as it was sent: its ids before they were judged, and its documents, each of which was judged as it came.

import type { TOO_LONG } from '../../json/value.ts'
import type { BlobBatch } from '../../store/blobs/batch.ts'
import type { UploadedFiles } from './uploaded-files.ts'

/** Stands for an object or an array that was sent where a plain value belongs. */
export const NESTED = Symbol('an object or array')

/**
 * Undefined if absent, and for an empty array, which counts as missing (decisions 3.1). A number that is not written as
 * an integer is NaN.
 */
export type UploadedField = string | number | boolean | null | typeof NESTED | typeof TOO_LONG | undefined

/** A string may hold lone surrogates (`\ud800`). */
export type UploadedDocument = {
  name: UploadedField
  mimetype: UploadedField
  /** Undefined if `base64` is absent or null. The last two are of bytes that were sent as they are. */
  content: 'good' | 'empty' | 'not base64' | 'not a string' | 'no bytes' | 'encoded' | undefined
}

/** What is wrong with a document, in words for its sender. */
export type Fault = { field: 'name' | 'mimetype' | 'base64' | 'content'; message: string }

/** `index` counts the documents of the request from 0. */
export type DocumentFault = { index: number } & Fault

export type UploadedDocuments = {
  total: number
  /** The first 1,000, in order. */
  faults: DocumentFault[]
  /** How many have one. */
  faulty: number
  /** All documents, if none is faulty, with their contents. */
  kept: KeptDocuments | undefined
}

export type KeptDocuments = { files: UploadedFiles; contents: BlobBatch }

export type Upload = {
  owner_id: UploadedField
  company_id: UploadedField
  agent_id: UploadedField
  documents: UploadedDocuments | UploadedField
}

export function isDocuments(sent: UploadedDocuments | UploadedField): sent is UploadedDocuments {
  return typeof sent === 'object' && sent !== null
}

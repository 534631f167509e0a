// An upload as received: its ids before validation, and its documents, each validated on arrival.

import type { TOO_LONG } from '../../../formats/json/value.ts'
import type { BlobBatch } from '../../../store/blobs/batch.ts'
import type { FieldName, FileFields, PartyFields } from '../../../store/documents/documents.ts'
import type { UploadedFile, UploadedFiles } from './uploaded-files.ts'

/** Placeholder for an object or an array in place of a plain value. */
export const NESTED = Symbol('an object or array')

/**
 * Undefined for an absent field or an empty array, which counts as missing (decisions#checks). NaN for a number that is
 * not written as an integer.
 */
export type UploadedField = string | number | boolean | null | typeof NESTED | typeof TOO_LONG | undefined

/** Strings may have lone surrogates (`\ud800`). */
export type UploadedDocument = Record<keyof FileFields, UploadedField> & {
  /** Undefined if `base64` is absent or null. The last two are for raw bytes. */
  blob: 'good' | 'empty' | 'not base64' | 'not a string' | 'no bytes' | 'encoded' | undefined
  sent?: UploadedFile['sent']
}

/** Fault of a document, as a message for its sender. */
export type UploadFault = { field: keyof FileFields | 'base64' | 'content'; message: string }

/** Fault that an upload format may word anew. `isMissing`: the document has no such field. */
export type DescribedFault = UploadFault & { isMissing?: boolean }

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

/** Ids of an upload as received. */
export type UploadIds = Record<FieldName<keyof PartyFields>, UploadedField>

export type Upload = UploadIds & {
  documents: UploadedDocuments | UploadedField
}

/** Fields of a document but its blob, in the order of their faults. */
export const FILE_FIELDS = listKeys<keyof FileFields>({ name: true, mimetype: true })
export const UPLOAD_IDS = listKeys<keyof UploadIds>({ owner_id: true, company_id: true, agent_id: true })
export const UPLOAD_FIELDS: readonly (keyof Upload)[] = [...UPLOAD_IDS, 'documents']

export function isDocuments(value: UploadedDocuments | UploadedField): value is UploadedDocuments {
  return typeof value === 'object' && value !== null
}

/** Lists all keys of a type. */
function listKeys<Key extends string>(keys: Record<Key, true>): readonly Key[] {
  return Object.keys(keys) as Key[]
}

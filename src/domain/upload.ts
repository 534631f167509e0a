// An upload as it was sent, before anybody judged it.

import type { StagedBlob } from '../store/blob-writer.ts'

/** Stands for an object or an array that was sent where a plain value belongs. */
export const NESTED = Symbol('an object or array')

/** Undefined if absent, and for an empty array, which counts as missing (decisions 3.1). */
export type UploadedField = string | number | boolean | null | typeof NESTED | undefined

export type UploadedContent = { blob: StagedBlob } | { problem: 'empty' | 'not base64' | 'not a string' }

/** Of an element that was no object every field is undefined. A string may hold lone surrogates (`\ud800`). */
export type UploadedDocument = {
  name: UploadedField
  mimetype: UploadedField
  /** Undefined if `base64` is absent or null. */
  content: UploadedContent | undefined
}

export type Upload = {
  owner_id: UploadedField
  company_id: UploadedField
  agent_id: UploadedField
  documents: UploadedDocument[] | UploadedField
}

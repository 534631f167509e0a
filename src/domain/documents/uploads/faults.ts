// Faults of a document of an upload, as messages for its sender (decisions#document and #base64).

import { TOO_LONG } from '../../../formats/json/value.ts'
import type { FileFields } from '../../../store/documents/documents.ts'
import {
  type DescribedFault,
  FILE_FIELDS,
  type UploadedDocument,
  type UploadedField,
  type UploadFault,
} from './upload.ts'

/** Fault for which the message of the whole answer is `Invalid base64 content`. */
export const NOT_BASE64 = 'base64 must be RFC 4648 with padding, without spaces, tabs or a data: prefix'

export const MAX_LISTED_FAULTS = 1000 // listed faults; all are counted

const MAX_LENGTH = 255
const TOKEN = "[\\w!#$%&'*+.^`|~-]+"
const QUOTED = '"(?:[\\t !#-[\\]-~]|\\\\[\\t -~])*"'
const PARAMETER = new RegExp(`[\\t ]*;[\\t ]*(?:${TOKEN}=(?:${TOKEN}|${QUOTED}))?`, 'y')
const TYPE = new RegExp(`^(${TOKEN})/(${TOKEN})`)
const MAX_PART = 127 // length of a type and of a subtype (RFC 6838, 4.2)

const BLOB_FAULTS: Record<Exclude<UploadedDocument['blob'], 'good' | undefined> | 'missing', UploadFault> = {
  'not base64': { field: 'base64', message: NOT_BASE64 },
  'not a string': { field: 'base64', message: 'base64 must be a string' },
  empty: { field: 'base64', message: 'base64 is empty' },
  missing: { field: 'base64', message: 'base64 is missing' },
  'no bytes': { field: 'content', message: 'content is empty' },
  encoded: {
    field: 'content',
    message: 'content must be sent as it is, without a Content-Transfer-Encoding such as base64',
  },
}

/** Returns the first fault of a document; `undefined` is an element of `documents` that is no object. */
export function validateDocument(document: UploadedDocument | undefined): DescribedFault | undefined {
  if (document === undefined) {
    return { field: 'name', message: 'a document must be an object with name, mimetype and base64' }
  }
  for (const field of FILE_FIELDS) {
    const fault = validateText(field, document[field])
    if (fault) return fault
  }
  return document.blob === 'good' ? undefined : BLOB_FAULTS[document.blob ?? 'missing']
}

/** How a text of each field is checked. */
const FIELD_FAULTS: Record<keyof FileFields, (text: string) => string | undefined> = {
  name: nameFault,
  mimetype: mimetypeFault,
}

function validateText(field: keyof FileFields, value: UploadedField): DescribedFault | undefined {
  if (value === undefined || value === null || value === '')
    return { field, message: `${field} is missing`, isMissing: true }
  const words = textFault(value) ?? (typeof value === 'string' ? FIELD_FAULTS[field](value) : undefined)
  return words === undefined ? undefined : { field, message: `${field} ${words}` }
}

function textFault(value: UploadedField): string | undefined {
  if (value === TOO_LONG) return `must be at most ${MAX_LENGTH} characters`
  return typeof value === 'string' ? undefined : 'must be a string'
}

function nameFault(name: string): string | undefined {
  if (name.trim() === '') return 'must not be blank'
  if (!name.isWellFormed()) return 'must be Unicode: it has half of a surrogate pair'
  if (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(name)) return 'must not have control characters'
  // Characters are code points. UTF-16 code units are at least as many, so most names need no count.
  const isLong = name.length > MAX_LENGTH && [...name].length > MAX_LENGTH
  return isLong ? `must be at most ${MAX_LENGTH} characters` : undefined
}

function mimetypeFault(mimetype: string): string | undefined {
  if (mimetype.length > MAX_LENGTH) return `must be at most ${MAX_LENGTH} characters`
  const [whole, type = '', subtype = ''] = TYPE.exec(mimetype) ?? []
  if (type === '*' || subtype === '*')
    return 'must not have a wildcard: name one type, such as application/pdf'
  const isShort = type.length <= MAX_PART && subtype.length <= MAX_PART
  if (whole === undefined || !isShort || !areParameters(mimetype, whole.length)) {
    return 'must be of the form type/subtype, such as application/pdf or text/plain; charset=utf-8'
  }
  return undefined
}

function areParameters(mimetype: string, from: number): boolean {
  PARAMETER.lastIndex = from
  while (PARAMETER.lastIndex < mimetype.length) if (!PARAMETER.test(mimetype)) return false
  return true
}

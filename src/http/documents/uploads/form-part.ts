// Parses the headers of a form part (RFC 7578): a field or a file. Ambiguous parts are rejected. Texts of headers are
// decoded late, since each may have a charset of its own.

import {
  UPLOAD_IDS,
  type UploadedDocument,
  type UploadIds,
} from '../../../domain/documents/uploads/upload.ts'
import { decodeName } from '../../../formats/decode-bytes.ts'
import { areEncodedWords, decodePieces, decodeWords } from '../../../formats/encoded-words.ts'
import { AppError } from '../../../runtime/errors.ts'
import type { FileFields } from '../../../store/documents/documents.ts'
import { uploadType } from '../../../values/upload-types.ts'
import { parseHeader } from './header-parameters.ts'

/** The headers of a part by their names in lower case, each byte of them as a character. */
export type PartHeaders = Readonly<Record<string, readonly string[]>>

/** `id`: undefined for a field that we do not have. */
export type FormField = { kind: 'field'; id: keyof UploadIds | undefined; mimetype: string | undefined }

/** `isEncoded`: has a transfer encoding, so its bytes are not the blob. */
export type FormFile = Partial<FileFields> &
  Pick<UploadedDocument, 'sent'> & { kind: 'file'; isEncoded: boolean }

/** Limit of headers. The parser truncates longer ones, so they are rejected. */
export const MAX_HEADERS = 8192

const OCTET_STREAM = /^application\/octet-stream[\t ]*(?:;|$)/i

/** `number` counts the parts of the form from 1. @throws AppError `bad-request` */
export function parseFormPart(headers: PartHeaders, number: number): FormField | FormFile {
  const partError = (words: string) => new AppError('bad-request', `Part ${number} of the form ${words}`)
  if (headersSize(headers) > MAX_HEADERS) throw partError(`has headers of more than ${MAX_HEADERS} bytes`)
  const singleHeader = (name: string) => {
    const [value, other] = headers[name] ?? []
    if (other !== undefined) throw partError(`has ${name} twice`)
    return value
  }
  const disposition = parseHeader(singleHeader('content-disposition') ?? '')
  if (disposition?.kind !== 'form-data')
    throw partError('has no Content-Disposition: form-data that is well formed')
  const { parameters } = disposition
  const sentName = parseFileName(parameters)
  const mimetype = singleHeader('content-type')
  const id = UPLOAD_IDS.find((one) => one === parameters.get('name'))
  // A document without a filename is a fault to be named, not a field to be passed over.
  if (sentName === undefined && (id !== undefined || mimetype === undefined || /^text\//i.test(mimetype))) {
    return { kind: 'field', id, mimetype }
  }
  const coding = singleHeader('content-transfer-encoding') ?? 'binary'
  const isEncoded = !/^(binary|8bit|7bit)$/i.test(coding)
  if (sentName === undefined) return { kind: 'file', mimetype, isEncoded }
  const name = areEncodedWords(sentName) ? decodeWords(sentName) : sentName
  const type = uploadType(name, OCTET_STREAM.test(mimetype ?? '') ? '' : (mimetype ?? ''))
  const sentFile = { name: sentName, mimetype: mimetype || type }
  const isAsSent = sentFile.name === name && sentFile.mimetype === type
  return { kind: 'file', name, mimetype: type, isEncoded, sent: isAsSent ? undefined : sentFile }
}

/** Returns the name of a file without decoding words, as 1.0.0 did; undefined: none. */
function parseFileName(parameters: ReadonlyMap<string, string>): string | undefined {
  const extended = parameters.get('filename*')
  if (extended !== undefined) return decodePieces([{ isEncoded: true, text: extended }])
  const plain = parameters.get('filename')?.replace(/%(22|0D|0A)/gi, (escaped) => decodeURIComponent(escaped))
  return plain && decodeName(Buffer.from(plain, 'latin1'))
}

function headersSize(headers: PartHeaders): number {
  let bytes = 0
  for (const [name, values] of Object.entries(headers)) {
    for (const value of values) bytes += name.length + value.length + 4 // the colon, a space and the line break
  }
  return bytes
}

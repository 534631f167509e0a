// Parses the headers of a form part (RFC 7578): a field or a file. Ambiguous parts are rejected.

import { isUtf8 } from 'node:buffer'
import { AppError } from '../../../runtime/errors.ts'
import { type HeaderValue, parseHeader } from './header-parameters.ts'

/** The headers of a part by their names in lower case, each byte of them as a character. */
export type PartHeaders = Readonly<Record<string, readonly string[]>>

export type FormPart =
  | { kind: 'field'; name: string }
  /** `isEncoded`: has a transfer encoding, so its bytes are not the blob. */
  | { kind: 'file'; fileName: string | undefined; mimetype: string | undefined; isEncoded: boolean }

/** Limit of headers. The parser truncates longer ones, so they are rejected. */
export const MAX_HEADERS = 8192

/** `number` counts the parts of the form from 1. @throws AppError `bad-request` */
export function parseFormPart(headers: PartHeaders, number: number): FormPart {
  const partError = (words: string) => new AppError('bad-request', `Part ${number} of the form ${words}`)
  if (headersSize(headers) > MAX_HEADERS) throw partError(`has headers of more than ${MAX_HEADERS} bytes`)
  const singleHeader = (name: string) => {
    const [value, other] = headers[name] ?? []
    if (other !== undefined) throw partError(`has ${name} twice`)
    const bytes = Buffer.from(value ?? '', 'latin1')
    if (!isUtf8(bytes)) throw partError(`has a ${name} that is not UTF-8`)
    return value && bytes.toString()
  }
  const disposition = parseHeader(singleHeader('content-disposition') ?? '')
  if (disposition?.kind !== 'form-data')
    throw partError('has no Content-Disposition: form-data that is well formed')
  const fileName = parseFileName(disposition)
  if (fileName === null) throw partError('has a filename* that is no UTF-8 in percent-encoding')
  const mimetype = singleHeader('content-type')
  const isText = mimetype === undefined || /^text\//i.test(mimetype)
  // A document without a filename is a fault to be named, not a field to be passed over.
  if (fileName === undefined && isText) {
    return { kind: 'field', name: disposition.parameters.get('name') ?? '' }
  }
  const coding = singleHeader('content-transfer-encoding') ?? 'binary'
  return { kind: 'file', fileName, mimetype, isEncoded: !/^(binary|8bit|7bit)$/i.test(coding) }
}

/** Returns undefined for none, null for an invalid one. */
function parseFileName({ parameters }: HeaderValue): string | undefined | null {
  const extended = parameters.get('filename*')
  if (extended !== undefined) {
    const [, encoded] = /^utf-8'[^']*'(.*)$/i.exec(extended) ?? []
    try {
      return encoded === undefined ? null : decodeURIComponent(encoded)
    } catch {
      return null
    }
  }
  return parameters.get('filename')?.replace(/%(22|0D|0A)/gi, (escaped) => decodeURIComponent(escaped))
}

function headersSize(headers: PartHeaders): number {
  let bytes = 0
  for (const [name, values] of Object.entries(headers)) {
    for (const value of values) bytes += name.length + value.length + 4 // the colon, a space and the line break
  }
  return bytes
}

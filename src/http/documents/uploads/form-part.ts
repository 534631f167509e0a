// What a part of a form is, by its headers (RFC 7578): a field with a value, or a file. Refused is what could only be guessed.

import { isUtf8 } from 'node:buffer'
import { AppError } from '../../../errors.ts'
import { type HeaderValue, parseHeader } from './header-parameters.ts'

/** The headers of a part by their names in lower case, each byte of them as a character. */
export type PartHeaders = Readonly<Record<string, readonly string[]>>

export type FormPart =
  | { kind: 'field'; name: string }
  /** `isEncoded`: its bytes are not what it holds. */
  | { kind: 'file'; fileName: string | undefined; mimetype: string | undefined; isEncoded: boolean }

/** More than any program sends; what the parser keeps of longer ones is cut off, and must not be taken for the whole. */
export const MAX_HEADERS = 8192

/** `number` counts the parts of the form from 1. @throws AppError `bad-request` */
export function formPartOf(headers: PartHeaders, number: number): FormPart {
  const refuse = (words: string) => new AppError('bad-request', `Part ${number} of the form ${words}`)
  if (sizeOf(headers) > MAX_HEADERS) throw refuse(`has headers of more than ${MAX_HEADERS} bytes`)
  const only = (name: string) => {
    const [value, other] = headers[name] ?? []
    if (other !== undefined) throw refuse(`has ${name} twice`)
    const bytes = Buffer.from(value ?? '', 'latin1')
    if (!isUtf8(bytes)) throw refuse(`has a ${name} that is not UTF-8`)
    return value && bytes.toString()
  }
  const disposition = parseHeader(only('content-disposition') ?? '')
  if (disposition?.kind !== 'form-data')
    throw refuse('has no Content-Disposition: form-data that is well formed')
  const fileName = fileNameOf(disposition)
  if (fileName === null) throw refuse('has a filename* that is no UTF-8 in percent-encoding')
  const mimetype = only('content-type')
  const isText = mimetype === undefined || /^text\//i.test(mimetype)
  // A document without a filename is a fault to be named, not a field to be passed over.
  if (fileName === undefined && isText) {
    return { kind: 'field', name: disposition.parameters.get('name') ?? '' }
  }
  const coding = only('content-transfer-encoding') ?? 'binary'
  return { kind: 'file', fileName, mimetype, isEncoded: !/^(binary|8bit|7bit)$/i.test(coding) }
}

/** Undefined: there is none; null: it cannot be read. */
function fileNameOf({ parameters }: HeaderValue): string | undefined | null {
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

function sizeOf(headers: PartHeaders): number {
  let bytes = 0
  for (const [name, values] of Object.entries(headers)) {
    for (const value of values) bytes += name.length + value.length + 4 // the colon, a space and the line break
  }
  return bytes
}

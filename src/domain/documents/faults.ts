// What is wrong with a document of an upload, in words for its sender (decisions 3.3 and 3.4).

import { TOO_LONG } from '../../json/value.ts'
import type { Fault, UploadedDocument, UploadedField } from './upload.ts'

/** The fault of which the answer's own message is `Invalid base64 content`. */
export const NOT_BASE64 = 'base64 must be RFC 4648 with padding, without spaces, tabs or a data: prefix'

export const MOST_FAULTS = 1000 // that are listed; all are counted

const MAX_LENGTH = 255
const TOKEN = "[\\w!#$%&'*+.^`|~-]+"
const QUOTED = '"(?:[\\t !#-[\\]-~]|\\\\[\\t -~])*"'
const PARAMETER = new RegExp(`[\\t ]*;[\\t ]*(?:${TOKEN}=(?:${TOKEN}|${QUOTED}))?`, 'y')
const KIND = new RegExp(`^(${TOKEN})/(${TOKEN})`)
const MAX_PART = 127 // of a type and of a subtype (RFC 6838, 4.2)

/** The first fault of a document; `undefined` stands for an element of `documents` that is no object. */
export function faultOf(document: UploadedDocument | undefined): Fault | undefined {
  if (document === undefined) {
    return { field: 'name', message: 'a document must be an object with name, mimetype and base64' }
  }
  return (
    faultIn('name', document.name, nameFault) ??
    faultIn('mimetype', document.mimetype, mimetypeFault) ??
    contentFault(document.content)
  )
}

function faultIn(
  field: 'name' | 'mimetype',
  sent: UploadedField,
  faultOfText: (text: string) => string | undefined,
): Fault | undefined {
  const words = textFault(sent) ?? (typeof sent === 'string' ? faultOfText(sent) : undefined)
  return words === undefined ? undefined : { field, message: `${field} ${words}` }
}

function textFault(sent: UploadedField): string | undefined {
  if (sent === undefined || sent === null || sent === '') return 'is missing'
  if (sent === TOO_LONG) return `must be at most ${MAX_LENGTH} characters`
  return typeof sent === 'string' ? undefined : 'must be a string'
}

function nameFault(name: string): string | undefined {
  if (name.trim() === '') return 'must not be blank'
  if (!name.isWellFormed()) return 'must be Unicode: it has half of a surrogate pair'
  if (/\p{Cc}/u.test(name)) return 'must not have control characters'
  // Characters are code points: most names are shorter than that in any unit.
  const isLong = name.length > MAX_LENGTH && [...name].length > MAX_LENGTH
  return isLong ? `must be at most ${MAX_LENGTH} characters` : undefined
}

function mimetypeFault(mimetype: string): string | undefined {
  if (mimetype.length > MAX_LENGTH) return `must be at most ${MAX_LENGTH} characters`
  const [whole, type = '', subtype = ''] = KIND.exec(mimetype) ?? []
  if (type === '*' || subtype === '*')
    return 'must not have a wildcard: name one type, such as application/pdf'
  const fits = type.length <= MAX_PART && subtype.length <= MAX_PART
  if (whole === undefined || !fits || !areParameters(mimetype, whole.length)) {
    return 'must be of the form type/subtype, such as application/pdf or text/plain; charset=utf-8'
  }
  return undefined
}

function areParameters(mimetype: string, from: number): boolean {
  PARAMETER.lastIndex = from
  while (PARAMETER.lastIndex < mimetype.length) if (!PARAMETER.test(mimetype)) return false
  return true
}

function contentFault(content: UploadedDocument['content']): Fault | undefined {
  switch (content) {
    case 'good':
      return undefined
    case 'not base64':
      return {
        field: 'base64',
        message: NOT_BASE64,
      }
    case 'not a string':
      return { field: 'base64', message: 'base64 must be a string' }
    case 'empty':
      return { field: 'base64', message: 'base64 is empty' }
    case 'no bytes':
      return { field: 'content', message: 'content is empty' }
    case 'encoded':
      return {
        field: 'content',
        message: 'content must be sent as it is, without a Content-Transfer-Encoding such as base64',
      }
    case undefined:
      return { field: 'base64', message: 'base64 is missing' }
  }
}

// Names and types of the documents of a mail. Its sender may write any text in both.

import { cleanText } from '../../values/clean-text.ts'
import { type MimePart, readName } from './parser.ts'

const MAX_NAME = 255 // as of an upload
const MAX_EXTENSION = 16
const MAX_CHARSET = 40
const TYPE = /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}$/
const XML_TYPE = /[/+]xml$/
const ANY_TYPE = 'application/octet-stream'

const EXTENSIONS: Record<string, string> = {
  'application/json': 'json',
  'application/msword': 'doc',
  'application/pdf': 'pdf',
  'application/vnd.ms-excel': 'xls',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'application/zip': 'zip',
  'image/gif': 'gif',
  'image/jpeg': 'jpg',
  'image/png': 'png',
  'image/tiff': 'tif',
  'image/webp': 'webp',
  'message/rfc822': 'eml',
  'text/csv': 'csv',
  'text/html': 'html',
  'text/plain': 'txt',
}

// First bytes as characters, control characters as blanks: XML may be UTF-16.
const FIRST_BYTES: [start: RegExp, type: string][] = [
  [/^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?\s*< ?\? ?x ?m ?l/, 'application/xml'],
  [/^%PDF-/, 'application/pdf'],
  [/^PK {2}/, 'application/zip'],
  [/^\x89PNG/, 'image/png'],
  [/^\xff\xd8\xff/, 'image/jpeg'],
  [/^GIF8/, 'image/gif'],
  [/^(?:II\* |MM \*)/, 'image/tiff'],
  [/^RIFF.{4}WEBP/s, 'image/webp'],
]
const HEAD_BYTES = 64
const BLANK = 0x20

/** Returns the name of the file in a part, without its folder; undefined: none. */
export function partName({ contentDisposition, contentType }: MimePart): string | undefined {
  return baseName(readName(contentDisposition, 'filename') ?? readName(contentType, 'name'))
}

/** Returns the last part of a path as a name of at most 255 characters, with its extension; undefined: none. */
export function baseName(path: string | null): string | undefined {
  const last = path?.toWellFormed().split(/[/\\]/).at(-1) ?? null
  const name = cleanText(last, Number.POSITIVE_INFINITY)
  if (name === null || /^\.+$/.test(name)) return undefined
  const characters = [...name]
  if (characters.length <= MAX_NAME) return name
  const dot = characters.lastIndexOf('.')
  const extension = characters.length - dot <= MAX_EXTENSION ? characters.slice(dot) : []
  return [...characters.slice(0, MAX_NAME - extension.length), ...extension].join('')
}

/** Returns a name for a document without one: `adjunto-2.xml`. `number` counts from 1. */
export function numberedName(number: number, type: string, bytes: Uint8Array): string {
  const [essence = ''] = type.split(';')
  const extension = findExtension(essence) ?? findExtension(sniffType(bytes))
  return `adjunto-${number}${extension === undefined ? '' : `.${extension}`}`
}

/** Returns the type of a part as it was sent, with its charset; else by the first bytes. */
export function partType({ headers, contentType }: MimePart, bytes: Uint8Array): string {
  const { value, params } = contentType.parsed
  const isSent = headers.some(({ key }) => key === 'content-type') && TYPE.test(value)
  if (!isSent || value.includes('*')) return sniffType(bytes)
  const charset = params.charset?.toLowerCase() ?? ''
  const isNamed = charset.length <= MAX_CHARSET && /^[\w.:+-]+$/.test(charset)
  const whole = isNamed ? `${value}; charset=${charset.includes(':') ? `"${charset}"` : charset}` : value
  return whole.length <= MAX_NAME ? whole : value
}

/** Returns the type of a file by its first bytes. */
export function sniffType(bytes: Uint8Array): string {
  const head = bytes.subarray(0, HEAD_BYTES).map((byte) => Math.max(byte, BLANK))
  const text = Buffer.from(head).toString('latin1')
  return FIRST_BYTES.find(([start]) => start.test(text))?.[1] ?? ANY_TYPE
}

export function isXmlType(type: string): boolean {
  return XML_TYPE.test(type)
}

function findExtension(type: string): string | undefined {
  return isXmlType(type) ? 'xml' : EXTENSIONS[type]
}

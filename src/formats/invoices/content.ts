// Finds the XML of an invoice in a file as programs send it. Marks and blanks precede it, or it is in base64, in quotes, or
// in the JSON of Hacienda's service. Reads only the first bytes of other files.

import { AppError } from '../../runtime/errors.ts'
import { createBase64Decoder } from '../json/base64.ts'
import { createJsonScanner, type JsonListener } from '../json/scanner.ts'
import type { JsonScalar, TOO_LONG } from '../json/value.ts'
import type { RawInvoice } from './element-tree.ts'
import { BAD_CHARACTER, createElementReader } from './elements.ts'
import { createByteText, createUtf16, type Utf16, type ValueDecoder } from './encoding.ts'
import type { InvoiceKind, UnreadableInvoice } from './kinds.ts'
import { findLikeness } from './likeness.ts'

/** `reply`: fields of the JSON around it. */
export type ReadableInvoice = {
  kind: InvoiceKind
  raw: RawInvoice
  decoder: ValueDecoder
  reply?: Map<string, JsonScalar>
}

/** Undefined: nothing like an invoice. */
type ContentResult = ReadableInvoice | UnreadableInvoice | undefined

export type ContentReader = {
  /** Returns false once nothing that follows is of interest. The caller may use the bytes again. */
  push(bytes: Buffer): boolean
  /** Returns true for XML, also in base64, and also of another kind. Complete after `end`. */
  isXml(): boolean
  end(): ContentResult
}

/** Layers around the XML, from the outermost to the innermost. */
const JSON_TEXT = 2
const BASE64_TEXT = 1
const XML_TEXT = 0

const HEAD_BYTES = 64
const START_BYTES = 4096
const NOTHING = Buffer.alloc(0)
/** Byte order marks, blanks beyond ASCII, and marks that a program decoded wrongly. */
const MARKS = [
  '\ufeff',
  '\u00a0',
  '\u200b',
  '\u2060',
  '\ufffd',
  '\\?',
  'ï»¿',
  'Ã¯Â»Â¿',
  'Ôªø',
  '´╗┐',
  '∩╗┐',
  'ÿþ',
  'þÿ',
]
const LEAD = `^(?:${MARKS.map((mark) => Buffer.from(mark).toString('latin1')).join('|')}|\\xff\\xfe|\\xfe\\xff|\\s)*`
const LEAD_ONLY = new RegExp(LEAD)
const XML_START = new RegExp(`${LEAD}(?:<[^\\x01-\\x08\\x0e-\\x1f]*|[\\x80-\\xff]{1,9})?$`) // the last: of a mark
/** Start of UTF-16, with a mark in the first group (little-endian) or the second, or else without one. */
const UTF16_START =
  /^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff|[\t\n\r ])*?(?:(\xff\xfe)(?=[^\0]\0)|(\xfe\xff)(?=\0[^\0])|(?=(?:[\t\n\r ]\0)*(<)\0)|(?=(?:\0[\t\n\r ])*\0<))/
const ANSWER = 'respuesta-xml'
const FIELDS = ['clave', 'ind-estado', ANSWER]
const BAD_UTF16 = 'the XML has malformed UTF-16, or UTF-16 without a byte order mark'
const BAD_BASE64 = 'its base64 is malformed'
const NO_BASE64 = 'the XML in the JSON around it is not in base64'
const BAD_JSON = 'the JSON around it is malformed, or has a field twice'

export function createContent(): ContentReader {
  return new Layer(JSON_TEXT)
}

/** Removes marks and blanks before a text, and selects its reader. */
class Layer implements ContentReader {
  readonly #outermost: number
  #head: Buffer = NOTHING
  #hasEncoding = false
  #hasEnded = false
  #utf16: Utf16 | undefined
  #inner: ContentReader | undefined

  constructor(outermost: number) {
    this.#outermost = outermost
  }

  push(bytes: Buffer) {
    const piece = this.#utf16 ? this.#utf16.push(bytes) : bytes
    if (this.#inner) return this.#inner.push(piece)
    this.#head = this.#head.length === 0 ? piece : Buffer.concat([this.#head, piece])
    const isOfInterest = this.#start()
    if (!this.#inner) this.#head = Buffer.from(this.#head)
    return isOfInterest
  }

  isXml() {
    return this.#inner?.isXml() ?? false
  }

  end() {
    this.#hasEnded = true
    if (!this.#inner) this.#start()
    return this.#inner?.end()
  }

  #start(): boolean {
    if (this.#lacks(HEAD_BYTES)) return true
    if (!this.#hasEncoding) [this.#utf16, this.#head] = startUtf16(this.#head)
    this.#hasEncoding = true
    this.#head = this.#head.subarray(leadLength(this.#head))
    if (this.#lacks(HEAD_BYTES)) return true
    const start = this.#head.toString('latin1', 0, HEAD_BYTES)
    if (start[0] === '{' && this.#lacks(START_BYTES)) return true
    this.#inner = this.#select(start)
    const head = this.#head
    this.#head = NOTHING
    return this.#inner?.push(head) ?? false
  }

  #lacks(bytes: number) {
    return this.#head.length < bytes && !this.#hasEnded
  }

  #select(start: string): ContentReader | undefined {
    if (start[0] === '<') return new XmlContent(this.#utf16, this.#outermost === BASE64_TEXT)
    if (this.#outermost >= BASE64_TEXT && isBase64(start)) return new Base64Content()
    if (this.#outermost < JSON_TEXT) return undefined
    if (start[0] === '"' && isBase64(start.slice(1).replaceAll(/\\[nrt]?/g, ''))) return new JsonContent()
    const isReply = start[0] === '{' && this.#head.subarray(0, START_BYTES).includes(`"${ANSWER}"`)
    return isReply ? new JsonContent() : undefined
  }
}

class XmlContent implements ContentReader {
  readonly #utf16: Utf16 | undefined
  readonly #isInJson: boolean
  readonly #text = createByteText()
  readonly #elements = createElementReader()
  #start = ''

  constructor(utf16: Utf16 | undefined, isInJson: boolean) {
    this.#utf16 = utf16
    this.#isInJson = isInJson
  }

  push(bytes: Buffer) {
    const text = this.#text.push(bytes)
    if (this.#start.length < START_BYTES) this.#start += text.slice(0, START_BYTES - this.#start.length)
    return this.#elements.write(text) || this.#start.length < START_BYTES
  }

  isXml() {
    return true
  }

  end(): ContentResult {
    const raw = this.#elements.end() ?? findLikeness(this.#start)
    if (!raw || 'fault' in raw) return raw
    const decoder = this.#utf16?.end() ?? this.#text.end(raw.encoding)
    const { kind } = raw
    if (this.#isInJson) return { kind, fault: NO_BASE64 } // its letters are escaped, and in no certain encoding
    if (decoder.encoding === undefined) return { kind, fault: BAD_UTF16 }
    return raw.misread.has(decoder.encoding) ? { kind, fault: BAD_CHARACTER } : { kind, raw, decoder }
  }
}

class Base64Content implements ContentReader {
  readonly #decoder = createBase64Decoder()
  readonly #inner = new Layer(XML_TEXT)
  #isMalformed = false

  push(bytes: Buffer) {
    const text = withoutBlanks(bytes)
    const decoded = this.#decoder.decode(text)
    this.#isMalformed = decoded === undefined
    // The text before a malformed character may have the root.
    return this.#inner.push(decoded ?? Buffer.from(text.toString('latin1'), 'base64')) && !this.#isMalformed
  }

  isXml() {
    return !this.#isMalformed && this.#inner.isXml()
  }

  end() {
    const result = this.#inner.end()
    const isMalformed = this.#isMalformed || (result && 'raw' in result && !this.#decoder.complete())
    return result && isMalformed ? { kind: result.kind, fault: BAD_BASE64 } : result
  }
}

/** A JSON string, or the object of Hacienda's service with its answer. */
class JsonContent implements ContentReader, JsonListener {
  readonly #scanner = createJsonScanner(this)
  readonly #inner = new Layer(BASE64_TEXT)
  readonly #reply = new Map<string, JsonScalar>()
  #isObject = false
  #field = '' // in FIELDS
  #isOfInterest = true
  #isMalformed = false

  push(bytes: Buffer) {
    // A string may be wrapped, which JSON does not allow.
    const isString = !this.#isObject && bytes[0] !== 0x7b
    return this.#attempt(() => this.#scanner.push(isString ? withoutBlanks(bytes) : bytes))
  }

  isXml() {
    return false
  }

  end() {
    const result = this.#inner.end()
    if (!result) return undefined
    this.#attempt(() => this.#scanner.end())
    if (this.#isMalformed) return { kind: result.kind, fault: BAD_JSON }
    return 'fault' in result ? result : { ...result, reply: this.#reply }
  }

  open() {
    const isOutermost = !this.#isObject
    this.#isObject = true
    return isOutermost
  }

  close() {}

  key(name: string | typeof TOO_LONG) {
    this.#field = FIELDS.find((field) => field === name) ?? ''
    if (this.#field === '') return
    if (this.#reply.has(this.#field)) this.#isMalformed = true
    this.#reply.set(this.#field, null)
  }

  value(value: JsonScalar) {
    this.#reply.set(this.#field, value)
  }

  maxBytes() {
    return this.#field === '' ? 0 : HEAD_BYTES
  }

  wantsPieces() {
    return !this.#isObject || this.#field === ANSWER
  }

  piece(bytes: Buffer) {
    if (this.#isOfInterest) this.#isOfInterest = this.#inner.push(bytes)
    return false
  }

  endOfPieces() {}

  isBusy() {
    return false
  }

  #attempt(read: () => void): boolean {
    try {
      if (!this.#isMalformed) read()
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      this.#isMalformed = true
    }
    return !this.#isMalformed
  }
}

/** Returns the reader of UTF-16, and the text in UTF-8. For other bytes: none, and the bytes. */
function startUtf16(bytes: Buffer): [Utf16 | undefined, Buffer] {
  const start = UTF16_START.exec(bytes.toString('latin1', 0, HEAD_BYTES))
  if (!start) return [undefined, bytes]
  const [lead, little, big, unmarkedLittle] = start
  const encoding = (little ?? unmarkedLittle) === undefined ? 'utf-16be' : 'utf-16le'
  const utf16 = createUtf16(encoding, (little ?? big) !== undefined)
  return [utf16, utf16.push(bytes.subarray(lead.length))]
}

/** Returns how many bytes of marks and blanks begin a text. */
function leadLength(bytes: Buffer): number {
  let at = 0
  for (let length = 1; length > 0; at += length)
    length = LEAD_ONLY.exec(bytes.toString('latin1', at, at + HEAD_BYTES))?.[0].length ?? 0
  return at
}

function withoutBlanks(bytes: Buffer): Buffer {
  return Buffer.from(bytes.toString('latin1').replaceAll(/\s/g, ''), 'latin1')
}

/** Returns true if a text begins with base64 of XML. */
function isBase64(start: string): boolean {
  const text = start.replaceAll(/\s/g, '')
  if (!/^[\w+/-]+=*$/.test(text)) return false
  const bytes = Buffer.from(text.slice(0, text.length - (text.length % 4)), 'base64')
  return bytes.length > 0 && XML_START.test(startUtf16(bytes)[1].toString('latin1'))
}

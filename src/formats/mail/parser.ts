// Parses a mail with postal-mime into the tree of its parts. The library finds parts, headers, names and addresses. The
// tree is in a field outside of its types. Attached messages stay bytes, and texts are not rendered. Headers are read as
// one character a byte, since each text in them may have a charset of its own.

import PostalMime, { addressParser } from 'postal-mime'
import { decodeName } from '../decode-bytes.ts'
import { decodePieces, decodeWords, type ParameterPiece } from '../encoded-words.ts'
import { type ContentDecoder, createContentDecoder } from './contents.ts'

/** A header that has a value and parameters, such as Content-Type. `value` has a character for each byte. */
export type StructuredHeader = { value: string; parsed: { value: string; params: Record<string, string> } }

export type MimePart = {
  /** Names are in lower case, values have a character for each byte. */
  headers: { key: string; value: string }[]
  /** `multipart` is the subtype, or false. */
  contentType: StructuredHeader & { multipart: string | false }
  contentDisposition: StructuredHeader
  /** Its first word, in lower case; empty: none. */
  contentTransferEncoding: { encoding: string }
  contentId?: string | undefined
  /** Decoded; null: none. */
  content: ArrayBuffer | null
  childNodes: MimePart[]
}

/** Fields of the parser that its types omit. */
type ParserFields = {
  root: MimePart
  currentNode: MimeNode
  processLine(line: Uint8Array, isLast: boolean): Promise<void>
}

type MimeNode = MimePart & {
  headerLines: string[]
  feed(line: Uint8Array): void
  parseStructuredHeader(text: string): StructuredHeader['parsed']
  state: 'header' | 'body' | 'finished'
  /** Created at the end of the headers. */
  contentDecoder: ContentDecoder | null
}

export type UnparsedMail = 'unreadable' | 'too many parts'

// Limits of the heap of the thread, which may have 192 MB. V8 ends the whole process if a large array does not fit.
const MOST_PARTS = 1000
const MOST_LEVELS = 256
const MOST_HEADER_LINES = 20_000 // parts together
const LARGEST_HEADERS = 256 * 1024 // parts together

/**
 * Parses the whole of an ArrayBuffer, without empty lines at its start.
 * `unreadable`: more than 256 levels, 20,000 lines of headers or 256 KiB of them.
 */
export async function parseMail(raw: ArrayBuffer): Promise<MimePart | UnparsedMail> {
  const parser = new PostalMime({
    forceRfc822Attachments: true,
    maxNestingDepth: MOST_LEVELS,
    maxHeadersSize: LARGEST_HEADERS,
  })
  const fields = parser as unknown as ParserFields
  const processLine = fields.processLine.bind(parser)
  let node: MimeNode | undefined
  let partCount = 0
  let headerLines = 0
  Object.assign(parser, {
    processLine(line: Uint8Array, isLast: boolean) {
      if (!node && line.length === 0 && !isLast) return Promise.resolve()
      const isHeader = fields.currentNode.state === 'header'
      if (isHeader && fields.currentNode !== node) {
        partCount++
        readBytes(fields.currentNode)
      }
      if (isHeader && ++headerLines > MOST_HEADER_LINES) throw new Error('too many headers')
      if (partCount > MOST_PARTS) throw new Error('too many parts')
      node = fields.currentNode
      const processed = processLine(line, isLast)
      if (isHeader && node.contentDecoder)
        node.contentDecoder = createContentDecoder(node.contentTransferEncoding.encoding)
      return processed
    },
    // Bodies are of no interest: as texts they would take twice the memory of the mail.
    collectNode: async () => undefined,
    renderTextContent: () => undefined,
  })
  try {
    await parser.parse(raw)
  } catch (error) {
    if (error instanceof RangeError) throw error // no memory
    return partCount > MOST_PARTS ? 'too many parts' : 'unreadable'
  }
  return fields.root
}

/** Makes a part read its headers as bytes, and decode the parameters by their charsets. */
function readBytes(node: MimeNode): void {
  const { feed, headerLines, parseStructuredHeader } = node
  node.feed = (line) => {
    const { length } = headerLines
    feed.call(node, line)
    if (headerLines.length > length) headerLines[length] = Buffer.from(line).toString('latin1')
  }
  // The library decodes the parameters whose names end like `filename*0*`. A NUL hides these ends from it.
  node.parseStructuredHeader = (text) => {
    const { value, params } = parseStructuredHeader.call(node, text.replaceAll('*', '*\0'))
    return { value: value.replaceAll('\0', ''), params: decodeParameters(params) }
  }
}

/** Decodes parameters, and joins those in pieces (RFC 2231). */
function decodeParameters(params: Record<string, string>): Record<string, string> {
  const texts = new Map<string, string>()
  const pieces = new Map<string, (ParameterPiece & { number: number })[]>()
  for (const [key, value] of Object.entries(params)) {
    const text = value.replaceAll('\0', '')
    const [, name = '', number, star] = /^(.*?)(?:\*(\d+))?(\*?)$/s.exec(key.replaceAll('\0', '')) ?? []
    const piece = { number: Number(number ?? 0), isEncoded: star === '*', text }
    if (number === undefined && star === '') texts.set(name, decodeName(Buffer.from(text, 'latin1')))
    else pieces.getOrInsertComputed(name, () => []).push(piece)
  }
  for (const [name, parts] of pieces) texts.set(name, decodePieces(parts.sort((a, b) => a.number - b.number)))
  return Object.fromEntries(texts)
}

/** Returns the mailboxes of the headers of this name, in order, those of groups too. */
export function readAddresses({ headers }: MimePart, key: string): { name: string; address: string }[] {
  return headers
    .filter((header) => header.key === key)
    .flatMap(({ value }) => addressParser(decodeHeader(value, encodeWord), { flatten: true }))
    .flatMap(({ name, address }) => (address ? [{ name, address }] : []))
}

/** Returns the first header of this name, with its encoded words decoded; null: none. */
export function readHeader({ headers }: MimePart, key: string): string | null {
  const header = headers.find((one) => one.key === key)
  return header ? decodeHeader(header.value) : null
}

/** Returns a parameter that is a file name: the encoded words that programs write into its quotes are decoded. */
export function readName({ value, parsed }: StructuredHeader, parameter: string): string | null {
  const name = parsed.params[parameter]
  if (!name) return null
  // A backslash escapes the next character, but programs also write `filename="C:\Users\ana\FE.xml"`.
  const [, path] = new RegExp(`\\b${parameter}="([a-z]:\\\\[^"]*)"`, 'i').exec(value) ?? []
  return path === undefined ? decodeWords(name) : decodeHeader(path)
}

function decodeHeader(value: string, write?: (decoded: string) => string): string {
  return decodeWords(decodeName(Buffer.from(value, 'latin1')), write)
}

/** Writes a text as an encoded word that the parser of addresses can decode. */
function encodeWord(text: string): string {
  return `=?utf-8?B?${Buffer.from(text).toString('base64')}?=`
}

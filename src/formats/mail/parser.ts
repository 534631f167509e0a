// Parses a mail with postal-mime into the tree of its parts. The library finds parts, headers, names and addresses. The
// tree is in a field outside of its types. Attached messages stay bytes, and texts are not rendered.

import PostalMime, { addressParser, decodeWords } from 'postal-mime'
import { type ContentDecoder, createContentDecoder } from './contents.ts'

/** A header that has a value and parameters, such as Content-Type. */
export type StructuredHeader = { value: string; parsed: { value: string; params: Record<string, string> } }

export type MimePart = {
  /** Names are in lower case. */
  headers: { key: string; value: string }[]
  /** `multipart` is the subtype, or false. */
  contentType: StructuredHeader & { multipart: string | false }
  contentDisposition: StructuredHeader
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
  state: 'header' | 'body' | 'finished'
  /** Created at the end of the headers. */
  contentDecoder: ContentDecoder | null
  contentTransferEncoding: { encoding: string }
}

export type UnparsedMail = 'unreadable' | 'too many parts'

// Limits of the heap of the thread, which may have 192 MB. V8 ends the whole process if a large array does not fit.
const MOST_PARTS = 1000
const MOST_LEVELS = 256
const MOST_HEADER_LINES = 20_000 // parts together
const LARGEST_HEADERS = 256 * 1024 // parts together

/**
 * Parses the whole of an ArrayBuffer.
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
      const isHeader = fields.currentNode.state === 'header'
      if (isHeader && fields.currentNode !== node) partCount++
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

/** Returns the mailboxes of the headers of this name, in order, those of groups too. */
export function readAddresses({ headers }: MimePart, key: string): { name: string; address: string }[] {
  return headers
    .filter((header) => header.key === key)
    .flatMap(({ value }) => addressParser(value, { flatten: true }))
    .flatMap(({ name, address }) => (address ? [{ name, address }] : []))
}

/** Returns the first header of this name, with its encoded words decoded; null: none. */
export function readHeader({ headers }: MimePart, key: string): string | null {
  const header = headers.find((one) => one.key === key)
  return header ? decodeWords(header.value) : null
}

/** Returns a parameter that is a file name: the encoded words that programs write into its quotes are decoded. */
export function readName({ value, parsed }: StructuredHeader, parameter: string): string | null {
  const name = parsed.params[parameter]
  if (!name) return null
  // A backslash escapes the next character, but programs also write `filename="C:\Users\ana\FE.xml"`.
  const [, path] = new RegExp(`\\b${parameter}="([a-z]:\\\\[^"]*)"`, 'i').exec(value) ?? []
  return decodeWords(path ?? name)
}

// The parts of one message: its files and bodies, and those that are inline or left out. No part is passed over.

import { decodeHex } from '../encoded-words.ts'
import { baseName, isXmlType, partName, partType, sniffType } from './names.ts'
import type { MimePart } from './parser.ts'
import { listUuFiles, type UuFile } from './uuencode.ts'

export type MailFile = {
  /** Undefined: it has none. */
  name: string | undefined
  type: string
  /** Has an ArrayBuffer of its own. */
  bytes: Uint8Array<ArrayBuffer>
  /** A picture that the HTML of its message shows. */
  isShown?: boolean
  /** Reason to leave a container whole. */
  note?: WholeReason
}

/** Part that is left out. `unreadable`: its encoding is unknown or damaged. */
export type LeftPart = { name: string | null; reason: 'ignored' | 'empty' | 'unreadable' }

export type WholeReason =
  | ('archive_in_archive' | 'damaged' | 'encrypted' | 'no_invoice' | 'no_mail' | 'no_xml' | 'over_limits')
  | ('too_compressed' | 'too_deep' | 'too_large' | 'too_many_files' | 'two_ends' | 'workbook_or_program')

/** Parts of a message, or entries of another container. `inline` and `bodies` are numbers. */
export type MailParts = { files: MailFile[]; left: LeftPart[]; inline: number; bodies: number }

/** Returns whether the file of a path is left out. */
export type IsIgnored = (path: string | undefined) => boolean

const MOST_PICTURES = 10_000
const INLINE_TYPES = new Set([
  'application/ics',
  'application/pgp-signature',
  'application/pkcs7-signature',
  'application/x-pkcs7-signature',
  'message/delivery-status',
  'message/disposition-notification',
  'message/feedback-report',
  'text/calendar',
])
const DECODED = /^$|base64|quoted-printable|^[78]-?bits?$|^binary$/
const UUENCODED = /^(?:x-uuencode|x-uue|uuencode)$/

/** Sorts the parts of a message. */
export function readParts(root: MimePart, isIgnored: IsIgnored): MailParts {
  const contents: MailParts = { files: [], left: [], inline: 0, bodies: 0 }
  const leaves = [...listLeaves(root)]
  const pictures = findPictures(leaves)
  for (const part of leaves) {
    const type = part.contentType.parsed.value
    const bytes = new Uint8Array(part.content ?? new ArrayBuffer(0))
    const { encoding } = part.contentTransferEncoding
    const uuFiles = UUENCODED.test(encoding) ? listUuFiles(bytes) : undefined
    const name = partName(part) ?? baseName(uuFiles?.[0]?.name ?? null)
    const addUuFiles = (files: readonly UuFile[]) => {
      for (const { name, bytes } of files) addFile(contents, { name: baseName(name), bytes }, isIgnored)
    }
    if (INLINE_TYPES.has(type)) contents.inline++
    else if (name === undefined && DECODED.test(encoding) && isBody(part, bytes)) {
      contents.bodies++
      if (type !== 'text/html') addUuFiles(listUuFiles(bytes))
    } else if (uuFiles && uuFiles.length > 1) addUuFiles(uuFiles)
    else {
      const isDecoded = part.contentType.multipart === false && DECODED.test(encoding)
      const content = isDecoded || bytes.length === 0 ? bytes : uuFiles?.[0]?.bytes
      const isShown = isPicture(part, content) && pictures.has(pictureId(part))
      addFile(contents, { name, type: partType(part, content ?? bytes), bytes: content, isShown }, isIgnored)
    }
  }
  return contents
}

/** Adds a file, or the reason to leave it out. `bytes` is undefined for one that cannot be decoded. */
export function addFile(
  { files, left }: MailParts,
  { name, bytes, type, isShown = false }: Partial<Omit<MailFile, 'note'>>,
  isIgnored: IsIgnored,
): void {
  const reason = isIgnored(name)
    ? 'ignored'
    : !bytes
      ? 'unreadable'
      : bytes.length === 0
        ? 'empty'
        : undefined
  if (reason !== undefined) left.push({ name: name ?? null, reason })
  else if (bytes) files.push({ name, type: type ?? sniffType(bytes), bytes, isShown })
}

/** Lists the parts without parts. A multipart without its boundary is such a part. */
function* listLeaves(part: MimePart): Generator<MimePart> {
  const { multipart } = part.contentType
  if (multipart === false || (part.childNodes.length === 0 && part.content?.byteLength)) yield part
  for (const child of part.childNodes) yield* listLeaves(child)
}

/** Returns true for a text to be read in the mail, of a part without a name. XML is none, wherever it is. */
function isBody({ contentType, contentDisposition }: MimePart, bytes: Uint8Array): boolean {
  const type = contentType.parsed.value
  if (contentDisposition.parsed.value === 'attachment' || !type.startsWith('text/') || isXmlType(type))
    return false
  return type === 'text/html' || !isXmlType(sniffType(bytes)) // XHTML begins like XML
}

/** Finds the pictures that HTML shows, as `cid:ID`. */
function findPictures(parts: readonly MimePart[]): Set<string> {
  const bodies = parts.filter(({ contentType }) => contentType.parsed.value === 'text/html')
  const ids = new Set<string>()
  for (const { content } of bodies) {
    const html = Buffer.from(content ?? new ArrayBuffer(0)).toString('latin1')
    for (const [, id = ''] of html.matchAll(/\bcid:([^"'\s<>)]{1,998})/gi)) {
      if (ids.size >= MOST_PICTURES) return ids
      ids.add(id).add(decodeHex(id.replaceAll('&amp;', '&'), '%'))
    }
  }
  return ids
}

function pictureId({ contentId }: MimePart): string {
  return contentId?.trim().replace(/^<|>$/g, '') ?? ''
}

function isPicture(part: MimePart, bytes = new Uint8Array()): boolean {
  return part.contentType.parsed.value.startsWith('image/') || sniffType(bytes).startsWith('image/')
}

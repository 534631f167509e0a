// Reads a mail into its documents, or the reason that it has none. Its bodies, the pictures of its HTML, signatures
// and calendars are no documents. Nothing of it is trusted: names and texts are those of strangers.

import { cleanText } from '../../values/clean-text.ts'
import { isXmlType, numberedName, partName, partType, sniffType } from './names.ts'
import { type MimePart, parseMail, readAddresses, readHeader, readName, type UnparsedMail } from './parser.ts'
import { isZip, readZip } from './zip.ts'

/** `bytes` has an ArrayBuffer of its own. */
export type MailPart = { name: string; type: string; bytes: Uint8Array<ArrayBuffer> }

export type RefusalReason = UnparsedMail | 'no documents' | 'winmail.dat'

/** Texts are of strangers, without control and direction characters. Empty: none. */
export type MailContents = {
  /** With its angle brackets, at most 998 characters. */
  messageId: string | null
  /** First address of From. */
  from: string
  /** Name and address, at most 200 characters. */
  fromText: string
  /** At most 200 characters. */
  subject: string
  /** Addresses of Delivered-To, X-Original-To, To and Cc, in this order, at most 1,000. */
  recipients: string[]
  /** 1 to 100. */
  parts: MailPart[]
}

export type RefusedMail = { refused: RefusalReason }

const MOST_PARTS = 100
const MOST_MESSAGES = 3 // attached, one in the other
const MOST_INFLATED = 50 * 1024 * 1024 // archives of a mail together
const MOST_PICTURES = 10_000
const MOST_RECIPIENTS = 1000
const MAX_TEXT = 200
const MAX_ADDRESS = 320
const MAX_LINE = 998 // longest line of a mail, and so Message-ID
const RECIPIENTS = ['delivered-to', 'x-original-to', 'to', 'cc']
const MESSAGE = 'message/rfc822'
const LEFT_TYPES = new Set([
  'application/ics',
  'application/pgp-signature',
  'application/pkcs7-signature',
  'application/x-pkcs7-signature',
  'message/delivery-status',
  'message/disposition-notification',
  'message/feedback-report',
  'text/calendar',
])
const TNEF_TYPES = new Set(['application/ms-tnef', 'application/vnd.ms-tnef'])

export async function readMail(raw: ArrayBuffer): Promise<MailContents | RefusedMail> {
  const root = await parseMail(raw)
  if (typeof root === 'string') return { refused: root }
  const parts: MailPart[] = []
  for await (const part of listParts(root, 0, { bytes: MOST_INFLATED })) {
    if (parts.length === MOST_PARTS) return { refused: 'too many parts' }
    parts.push({ ...part, name: part.name ?? numberedName(parts.length + 1, part.type, part.bytes) })
  }
  if (parts.length === 0) return { refused: 'no documents' }
  if (parts.every(isTnef)) return { refused: 'winmail.dat' }
  const [sender] = readAddresses(root, 'from')
  const senderText = sender?.name ? `${sender.name} <${sender.address}>` : sender?.address
  return {
    messageId: cleanText(readHeader(root, 'message-id'), MAX_LINE),
    from: cleanLine(sender?.address ?? null, MAX_ADDRESS),
    fromText: cleanLine(senderText ?? readHeader(root, 'from'), MAX_TEXT),
    subject: cleanLine(readHeader(root, 'subject'), MAX_TEXT),
    recipients: listRecipients(root),
    parts,
  }
}

/** Bytes that the archives of a mail may still have. */
type Budget = { bytes: number }

type NamelessPart = Omit<MailPart, 'name'> & { name: string | undefined }

/** Lists the documents of a message; an attached one that cannot be parsed is a document. `depth` is 0 for the mail. */
async function* listParts(root: MimePart, depth: number, budget: Budget): AsyncGenerator<NamelessPart> {
  const leaves = [...listLeaves(root, false)]
  const pictures = findPictures(leaves.map(({ part }) => part))
  for (const { part, isRelated } of leaves) {
    const bytes = new Uint8Array(part.content ?? new ArrayBuffer(0))
    if (bytes.length === 0 || LEFT_TYPES.has(part.contentType.parsed.value) || isBody(part, bytes)) continue
    const type = partType(part, bytes)
    const isPicture = type.startsWith('image/') || sniffType(bytes).startsWith('image/')
    if (isRelated && isPicture && pictures.has(pictureId(part))) continue
    const isMessage = part.contentType.parsed.value === MESSAGE
    const message = isMessage && depth < MOST_MESSAGES ? await parseMail(bytes.buffer) : undefined
    if (typeof message === 'object') yield* listParts(message, depth + 1, budget)
    else yield* unzip({ name: partName(part), type, bytes }, budget)
  }
}

/** Lists the files of an archive, or the document itself. */
async function* unzip(part: NamelessPart, budget: Budget): AsyncGenerator<NamelessPart> {
  const files = isZip(part.name, part.type, part.bytes) ? await readZip(part.bytes, budget.bytes) : undefined
  if (!files) yield part
  for (const { name, bytes } of files ?? []) {
    budget.bytes -= bytes.length
    yield { name, type: sniffType(bytes), bytes }
  }
}

function* listLeaves(part: MimePart, isRelated: boolean): Generator<{ part: MimePart; isRelated: boolean }> {
  const { multipart } = part.contentType
  if (multipart === false) yield { part, isRelated }
  for (const child of part.childNodes) yield* listLeaves(child, isRelated || multipart === 'related')
}

/** Returns true for a text to be read in the mail. XML is none, wherever it is, nor is a file that has a name. */
function isBody(part: MimePart, bytes: Uint8Array): boolean {
  const { contentType, contentDisposition } = part
  const type = contentType.parsed.value
  if (contentDisposition.parsed.value === 'attachment' || !type.startsWith('text/')) return false
  if (contentDisposition.parsed.params.filename || isXmlType(type)) return false
  const isMain = type === 'text/plain' || type === 'text/html'
  const name = readName(contentType, 'name')
  if (name !== null && (!isMain || /\.xml$/i.test(name))) return false
  return type === 'text/html' || !isXmlType(sniffType(bytes)) // XHTML begins like XML
}

/** Finds the pictures that HTML bodies name, as `cid:ID`. */
function findPictures(parts: readonly MimePart[]): Set<string> {
  const bodies = parts.filter(({ contentType }) => contentType.parsed.value === 'text/html')
  const ids = new Set<string>()
  for (const { content } of bodies) {
    const html = Buffer.from(content ?? new ArrayBuffer(0)).toString('latin1')
    for (const [, id = ''] of html.matchAll(/\bcid:([^"'\s<>)]{1,998})/gi)) {
      if (ids.size >= MOST_PICTURES) return ids
      ids.add(id).add(decodeId(id))
    }
  }
  return ids
}

function decodeId(id: string): string {
  const byte = (_: string, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))
  return id.replaceAll('&amp;', '&').replace(/%([0-9a-f]{2})/gi, byte)
}

function pictureId({ contentId }: MimePart): string {
  return contentId?.trim().replace(/^<|>$/g, '') ?? ''
}

function isTnef({ name, type }: MailPart): boolean {
  return TNEF_TYPES.has(type) || /^winmail\.dat$/i.test(name)
}

function listRecipients(root: MimePart): string[] {
  const addresses = RECIPIENTS.flatMap((key) => readAddresses(root, key)).map(({ address }) => address)
  const clean = addresses.flatMap((address) => cleanText(address, MAX_ADDRESS) ?? [])
  return [...new Set(clean)].slice(0, MOST_RECIPIENTS)
}

function cleanLine(text: string | null, most: number): string {
  return cleanText(text?.replace(/[\t\r\n]+/g, ' ') ?? null, most) ?? ''
}

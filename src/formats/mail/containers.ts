// Opens the containers of a mail, which are found by their content: attached mails, opaque S/MIME, archives, XML in gzip.
// The layers share one budget. A container that would exceed it stays whole, with the reason as its note.

import { crc32, gunzipSync } from 'node:zlib'
import { Constructed, fromBER, ObjectIdentifier, OctetString, Sequence } from 'asn1js'
import { isXmlType, sniffType } from './names.ts'
import { parseMail } from './parser.ts'
import {
  addFile,
  type IsIgnored,
  type MailFile,
  type MailParts,
  readParts,
  type WholeReason,
} from './parts.ts'
import { isInvoice, isZip, LARGEST_RATIO, readZip } from './zip.ts'

/** Limits that the containers of a mail share. `bytes`: inflated. */
export type Budget = { files: number; bytes: number }

/** `isWhole`: no container is opened, since that took too much time or memory. */
export type Opening = { isIgnored: IsIgnored; isWhole: boolean; budget: Budget }

type Kind = 'archive' | 'gzip' | 'mail' | 'signed'

const MOST_LAYERS = 3
const HEAD_BYTES = 256
const MAIL_START = /^(?:\xef\xbb\xbf)?\s*(?=>?From |[\w.-]{1,100}[ \t]*:)/
const MAIL_TYPES = new Set(['message/rfc822', 'message/global'])
const SIGNED_TYPE = /^application\/(?:x-)?pkcs7-mime$/
const DER_SEQUENCE = 0x30
const SIGNED_DATA = '1.2.840.113549.1.7.2' // CMS, RFC 5652
const ENVELOPED_DATA = new Set(['1.2.840.113549.1.7.3', '1.2.840.113549.1.9.16.1.23'])
const LIMITS = { maxNodes: 100_000, maxContentLength: 2 ** 27 } // programs cut a content into pieces of 1 to 4 KiB
const GZIP_TRAILER = 8

/** Replaces the containers among some files by their contents. `layers`: the containers around them. */
export async function openContainers(
  { files, ...others }: MailParts,
  opening: Opening,
  layers: readonly Kind[] = [],
): Promise<MailParts> {
  const all: MailParts = { ...others, files: [] }
  for (const file of files) {
    const kind = containerKind(file)
    const contents = kind && (await open(file, kind, opening, layers))
    if (typeof contents !== 'object')
      all.files.push(contents === undefined ? file : { ...file, note: contents })
    else {
      const inner = await openContainers(contents, opening, [...layers, kind as Kind])
      all.files.push(...inner.files)
      all.left.push(...inner.left)
      all.inline += inner.inline
      all.bodies += inner.bodies
    }
  }
  return all
}

/** Number of files that count: the pictures that HTML shows are inline beside a document. */
export function countFiles(files: readonly MailFile[]): number {
  return files.filter(({ isShown }) => !isShown).length
}

function containerKind({ name = '', type, bytes }: MailFile): Kind | undefined {
  if (MAIL_TYPES.has(type) || /\.eml$/i.test(name)) return 'mail'
  if (bytes[0] === DER_SEQUENCE && (SIGNED_TYPE.test(type) || /\.p7m$/i.test(name))) return 'signed'
  if (isZip(bytes)) return 'archive'
  return bytes[0] === 0x1f && bytes[1] === 0x8b ? 'gzip' : undefined
}

async function open(
  file: MailFile,
  kind: Kind,
  { isIgnored, isWhole, budget }: Opening,
  layers: readonly Kind[],
): Promise<MailParts | WholeReason> {
  if (isWhole) return 'over_limits'
  if (kind === 'archive' && layers.includes('archive')) return 'archive_in_archive'
  if (layers.length === MOST_LAYERS) return 'too_deep'
  const openers: Record<Kind, () => Promise<MailParts | WholeReason> | MailParts | WholeReason> = {
    archive: () => readZip(file.bytes, budget.bytes, isIgnored),
    gzip: () => openGzip(file, budget.bytes, isIgnored),
    mail: () => openMail(file.bytes, isIgnored),
    signed: () => openSigned(file.bytes, isIgnored),
  }
  const contents = await openers[kind]()
  if (typeof contents === 'string') return contents
  const more = countFiles(contents.files) - 1
  if (more > budget.files) return 'too_many_files'
  budget.files -= more
  if (kind === 'archive' || kind === 'gzip')
    budget.bytes -= contents.files.reduce((sum, { bytes }) => sum + bytes.length, 0)
  return contents
}

async function openMail(
  bytes: Uint8Array<ArrayBuffer>,
  isIgnored: IsIgnored,
): Promise<MailParts | WholeReason> {
  const [blanks] = MAIL_START.exec(Buffer.from(bytes.subarray(0, HEAD_BYTES)).toString('latin1')) ?? []
  if (blanks === undefined) return 'no_mail'
  const root = await parseMail((blanks === '' ? bytes : bytes.slice(blanks.length)).buffer)
  if (typeof root === 'object') return readParts(root, isIgnored)
  return root === 'too many parts' ? 'too_many_files' : 'damaged'
}

function openSigned(bytes: Uint8Array, isIgnored: IsIgnored): Promise<MailParts | WholeReason> | WholeReason {
  try {
    const content = readSignedData(bytes)
    return typeof content === 'object' ? openMail(content, isIgnored) : (content ?? 'damaged')
  } catch {
    return 'damaged' // asn1js throws at some values
  }
}

/** Returns the content of a SignedData, unverified; `encrypted`; undefined: it is neither. */
function readSignedData(bytes: Uint8Array): Uint8Array<ArrayBuffer> | 'encrypted' | undefined {
  const [type, content] = children(fromBER(bytes, LIMITS).result)
  const id = type instanceof ObjectIdentifier ? type.getValue() : ''
  if (ENVELOPED_DATA.has(id)) return 'encrypted'
  const [, , encapsulated] = id === SIGNED_DATA ? children(children(content)[0]) : []
  const [signed] = children(children(encapsulated)[1])
  return signed instanceof OctetString ? new Uint8Array(signed.getValue()) : undefined
}

function children(block: unknown): unknown[] {
  return block instanceof Sequence || block instanceof Constructed ? block.valueBlock.value : []
}

function openGzip(
  { name, bytes }: MailFile,
  mostBytes: number,
  isIgnored: IsIgnored,
): MailParts | WholeReason {
  const most = Math.min(mostBytes, bytes.length * LARGEST_RATIO)
  let content: Uint8Array<ArrayBuffer>
  try {
    content = new Uint8Array(gunzipSync(bytes, { maxOutputLength: most + 1 })) // memory of its own
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_BUFFER_TOO_LARGE') return 'damaged'
    return most === mostBytes ? 'too_large' : 'too_compressed'
  }
  const trailer = Buffer.from(bytes.subarray(-GZIP_TRAILER))
  const isOne = trailer.readUInt32LE(0) === crc32(content) && trailer.readUInt32LE(4) === content.length
  if (!isOne) return 'damaged' // several files, or more bytes after one
  const type = sniffType(content)
  if (!isXmlType(type) && !isInvoice(content)) return 'no_xml'
  const file = {
    name: name?.replace(/\.gz$/i, '') || undefined,
    type: isXmlType(type) ? type : 'application/xml',
    bytes: content,
  }
  const contents: MailParts = { files: [], left: [], inline: 0, bodies: 0 }
  addFile(contents, file, isIgnored)
  return contents
}
